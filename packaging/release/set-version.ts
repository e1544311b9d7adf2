// Writes a new version into every file that has the version of the project.

import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../src/lib/user-error.ts';
import { releaseChanges } from './changelog.ts';

/** Text files that name the version. The changelog, decisions and results name versions of the past. */
const TEXTS = ['Dockerfile', 'compose.yaml', 'README.md', 'docs/{guides,reference,background}/*.md'];
/** The version of the project in a text: after its name, or as the label of an image. */
const OWN_VERSION = /(?<=\bplant-store[:@-]|\bPlant Store |\bimage\.version[=:] ?["']?)\d+\.\d+\.\d+\b/g;
const SEMVER = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/;

/** The part of package.json and package-lock.json that has versions. */
interface Manifest {
  name: string;
  version: string;
  packages?: Record<string, { name?: string; version: string }>;
}

/** Returns every version of the project that the text files name, with the file. */
export function versionsInTexts(root: string): { file: string; version: string }[] {
  return globSync(TEXTS, { cwd: root }).flatMap((file) =>
    [...read(root, file).matchAll(OWN_VERSION)].map(([version]) => ({ file, version })),
  );
}

/** Prepares a release: sets its version and moves the unreleased changes to it. Returns the changed files. */
export function setVersion(root: string, version: string, date: string): string[] {
  const { version: current } = JSON.parse(read(root, 'package.json')) as Manifest;
  if (!SEMVER.test(version)) throw new UsageError(`VERSION must have three numbers, such as 0.2.0, not "${version}"`);
  if (compare(version, current) < 0)
    throw new UsageError(`VERSION ${version} is lower than ${current} in package.json`);
  const changes: [file: string, text: string][] = [
    ['CHANGELOG.md', releaseChanges(read(root, 'CHANGELOG.md'), version, date)],
    ...['package.json', 'package-lock.json', 'packaging/node/package.json'].map((file): [string, string] => [
      file,
      withVersion(read(root, file), version),
    ]),
    ...globSync(TEXTS, { cwd: root }).map((file): [string, string] => [
      file,
      read(root, file).replace(OWN_VERSION, version),
    ]),
  ];
  const changed = changes.filter(([file, text]) => text !== read(root, file));
  for (const [file, text] of changed) writeFileSync(join(root, file), text);
  return changed.map(([file]) => file);
}

/** Returns a package.json or package-lock.json with another version of the project and of its workspace. */
function withVersion(json: string, version: string): string {
  const manifest = JSON.parse(json) as Manifest;
  manifest.version = version;
  for (const path of ['', 'packaging/node']) {
    const own = manifest.packages?.[path];
    if (own !== undefined) own.version = version;
  }
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

/** Returns a negative number if the first version is lower, and a positive one if it is higher. */
function compare(first: string, second: string): number {
  const numbers = second.split('.').map(Number);
  const differences = first.split('.').map((part, at) => Number(part) - (numbers[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function read(root: string, file: string): string {
  return readFileSync(join(root, file), 'utf8');
}
