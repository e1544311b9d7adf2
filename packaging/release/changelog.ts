// Reads and moves sections of CHANGELOG.md, in the form of Keep a Changelog.

import { UsageError } from '../../src/lib/user-error.ts';

const UNRELEASED = '## [Unreleased]\n';

/** Returns the section of a version with its heading, if the changelog has one. */
export function findSection(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^(?=## )/m);
  const found = sections.find((section) => section.startsWith(`## [${version}] - `));
  return found && `${found.trimEnd()}\n`;
}

/** Returns the section of the unreleased changes with its heading, if it has any. */
export function findUnreleased(changelog: string): string | undefined {
  const section = changelog
    .split(/^(?=## )/m)
    .find((each) => each.startsWith(UNRELEASED))
    ?.trimEnd();
  return section === undefined || section === UNRELEASED.trimEnd() ? undefined : `${section}\n`;
}

/** Returns the changelog with the unreleased changes in a section of this version. */
export function releaseChanges(changelog: string, version: string, date: string): string {
  if (findSection(changelog, version) !== undefined)
    throw new UsageError(`CHANGELOG.md already has an entry for ${version}. Choose a higher version.`);
  const end = changelog.indexOf(UNRELEASED) + UNRELEASED.length;
  if (end < UNRELEASED.length) throw new UsageError('CHANGELOG.md has no section [Unreleased]');
  const after = changelog.slice(end);
  if (/^\s*(## |$)/.test(after)) throw new UsageError('CHANGELOG.md has no changes under [Unreleased] to release');
  return `${changelog.slice(0, end)}\n## [${version}] - ${date}\n${after}`;
}
