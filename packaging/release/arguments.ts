// The command line of "npm run release": its help, and its options.

import { parseArgs } from 'node:util';
import { UsageError } from '../../src/lib/user-error.ts';

export const HELP = `Usage: npm run release -- [options] [VERSION]

Without VERSION, makes the package of the version in package.json from the last commit, and tries it:

  1. builds the package twice, in two empty folders, and compares the bytes
  2. installs it in an empty folder, starts the server, stores a plant and stops the server
  3. writes the package, NOTES.md from CHANGELOG.md, and SHA256SUMS

It publishes, commits and tags nothing. At the end it prints the commands that do. If CHANGELOG.md has no section for
the version, it makes a trial with the [Unreleased] changes as notes.

With VERSION, such as 0.2.0, prepares that release: writes the version into every file that has it, and moves the
[Unreleased] changes in CHANGELOG.md to a section for VERSION. Commit the result, then run "npm run release".

Options:
  --out DIR      folder for the files of the release (default: release)
  --allow-dirty  accept uncommitted changes, for a trial
  -h, --help     print this help and exit

Exit status: 0 on success, 1 if a step failed, 2 if the arguments are invalid or the checkout is not ready.

Examples:
  npm run release -- 0.2.0
  git commit -am "Release 0.2.0"
  npm run release
`;

export interface ReleaseArguments {
  help: boolean;
  allowDirty: boolean;
  out: string;
  /** Version to prepare. */
  version: string | undefined;
}

/** Returns the parsed command line. Throws a UsageError if it is invalid. */
export function readArguments(args: string[]): ReleaseArguments {
  const { values, positionals } = parse(args);
  const [version, ...others] = positionals;
  if (others.length > 0) throw new UsageError(`Only one VERSION is possible, not ${positionals.length}`);
  if (version !== undefined && values.out !== undefined)
    throw new UsageError('--out has no effect with VERSION, which builds nothing');
  if (values.out === '') throw new UsageError('--out must name a folder');
  return {
    help: values.help ?? false,
    allowDirty: values['allow-dirty'] ?? false,
    out: values.out ?? 'release',
    version,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        'allow-dirty': { type: 'boolean' },
        out: { type: 'string' },
      },
    });
  } catch (error) {
    const [reason = ''] = (error as Error).message.split(/\. |\n/);
    throw new UsageError(`${reason}. Add --help to see the usage.`);
  }
}
