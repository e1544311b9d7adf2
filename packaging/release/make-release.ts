// Makes the files of a release: builds the package from a copy of the commit, tries it, and writes it with its notes
// and their checksums. It publishes nothing.

import { createHash } from 'node:crypto';
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative, resolve } from 'node:path';
import { UsageError, UserError } from '../../src/lib/user-error.ts';
import { installPackage, type Packed, packProject } from '../pack.ts';
import { findWrongFiles } from '../package-files.ts';
import { plainEnvironment } from '../plain-environment.ts';
import { runCommand } from '../run-command.ts';
import { tryPackage } from '../try-package.ts';
import type { ReleaseArguments } from './arguments.ts';
import { findSection, findUnreleased } from './changelog.ts';
import { exportTree, lastCommit, listChanges, requireCleanCheckout, writeTree } from './checkout.ts';
import { type Progress, toMegabytes } from './progress.ts';
import { checkName, type PackageJson } from './registry-name.ts';

/** Makes the release of the version in package.json. */
export async function makeRelease(root: string, { allowDirty, out }: ReleaseArguments, progress: Progress) {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as PackageJson;
  requireOwnNode(root);
  await requireCleanCheckout(root, allowDirty);
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const section = findSection(changelog, own.version);
  const notes = section ?? findUnreleased(changelog);
  if (notes === undefined) {
    throw new UsageError(`CHANGELOG.md has no entry for ${own.version}, and no changes under [Unreleased]`);
  }
  const folder = makeOutFolder(root, out, `${own.name.replace('@', '').replace('/', '-')}-${own.version}.tgz`);
  const isDirty = (await listChanges(root)).length > 0;
  const env = plainEnvironment(process.execPath);
  const npm = (await runCommand('npm', ['--version'], { cwd: root, env })).trim();
  const source = `commit ${await lastCommit(root)}${isDirty ? ' with uncommitted changes' : ''}`;
  progress.print(progress.style('bold', `${own.name} ${own.version}`));
  progress.print(progress.style('dim', `${source}, Node ${process.versions.node}, npm ${npm}\n`));
  await progress.step({
    doing: `Checking the name ${own.name} on the registry`,
    run: () => checkName(own, env),
    done: (sentence) => sentence,
  });

  const temporary = mkdtempSync(join(tmpdir(), 'plant-store-release-'));
  const cleanUp = () => rmSync(temporary, { recursive: true, force: true, maxRetries: 5 });
  process.on('exit', cleanUp);
  const tree = isDirty ? await writeTree(root, temporary) : 'HEAD';
  const packed = await buildTwice(root, tree, temporary, progress);
  await tryRelease(packed, own, join(temporary, 'empty'), progress);
  const tarball = basename(packed.tarball);
  writeFiles(folder, [
    [tarball, readFileSync(packed.tarball)],
    ['NOTES.md', Buffer.from(notes)],
  ]);
  cleanUp();
  process.off('exit', cleanUp);
  const isTrial = isDirty || section === undefined;
  printSummary(own, relative(process.cwd(), folder) || '.', tarball, isTrial, progress);
}

/** Throws a UsageError unless this is the Node of the project: another one compresses files to other bytes. */
function requireOwnNode(root: string): void {
  const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'packaging/node/package.json'), 'utf8'));
  const [required] = Object.values(optionalDependencies);
  if (required === process.versions.node) return;
  throw new UsageError(
    `A release needs Node ${required}, not ${process.versions.node}. Run "npm ci", then "npm run release".`,
  );
}

/** Creates the folder for the files before the long steps. Throws a UsageError if this is not possible. */
function makeOutFolder(root: string, out: string, tarball: string): string {
  const folder = resolve(root, out);
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
  } catch (error) {
    throw new UsageError(`Cannot write to the folder ${out}: ${(error as NodeJS.ErrnoException).code}`);
  }
  const other = readdirSync(folder).find((name) => name.endsWith('.tgz') && name !== tarball);
  if (other === undefined) return folder;
  throw new UsageError(`The folder ${out} has another package, ${other}. Move it away, or choose another --out.`);
}

/** Builds the package in two folders, with the locked dependencies. Throws a UserError if the packages differ. */
async function buildTwice(root: string, tree: string, temporary: string, progress: Progress): Promise<Packed> {
  const first = join(temporary, 'first');
  const second = join(temporary, 'second/in a folder with another name');
  for (const folder of [first, second]) await exportTree(root, tree, folder);
  await progress.step({
    doing: 'Installing the locked dependencies',
    run: () => {
      const args = ['ci', '--ignore-scripts', '--workspaces=false', '--prefer-offline', '--no-audit', '--no-fund'];
      return runCommand('npm', args, { cwd: first, env: plainEnvironment(process.execPath) });
    },
    done: () => 'Installed the locked dependencies',
  });
  return progress.step({
    doing: 'Building the package twice',
    run: async () => {
      const packed = await packProject(first);
      renameSync(join(first, 'node_modules'), join(second, 'node_modules'));
      const again = await packProject(second);
      if (readFileSync(packed.tarball).equals(readFileSync(again.tarball))) return packed;
      throw new UserError(`The two packages differ in ${await listDifferences(first, second)}`);
    },
    done: () => 'Built the package twice, in two folders: the bytes are the same',
  });
}

/** Returns the names of the files that differ. */
async function listDifferences(first: string, second: string): Promise<string> {
  const differing = await runCommand('diff', ['-rq', join(first, 'dist'), join(second, 'dist')], { cwd: first }).then(
    () => 'the archive only',
    (error: Error) => error.message,
  );
  return differing.replaceAll(`${first}/`, '').replaceAll(`${second}/`, '');
}

/** Checks the files of the package, installs it in an empty folder and uses it. */
async function tryRelease(packed: Packed, own: PackageJson, folder: string, progress: Progress): Promise<void> {
  await progress.step({
    doing: 'Checking the files of the package',
    run: async () => {
      const wrong = findWrongFiles(packed);
      if (wrong.length > 0) throw new UserError(`The package is wrong: ${wrong.join('; ')}`);
    },
    done: () => `Checked the ${packed.files.length} files of the package, ${toMegabytes(packed.unpackedSize)} unpacked`,
  });
  await progress.step({
    doing: 'Installing the package in an empty folder',
    run: () => installPackage(packed.tarball, folder),
    done: () => 'Installed the package in an empty folder',
  });
  await progress.step({
    doing: 'Starting the server of the package',
    run: () => tryPackage({ folder, name: own.name, version: own.version }, process.execPath),
    done: () => 'Started its server, stored a plant, opened the console, stopped the server',
  });
}

/** Writes files and their checksums. */
function writeFiles(folder: string, files: [name: string, bytes: Buffer][]): void {
  const sums = files.map(([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`);
  for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
}

function printSummary(own: PackageJson, folder: string, tarball: string, isTrial: boolean, progress: Progress): void {
  progress.print(`\nThe release is in ${progress.style('bold', `${folder}/`)}`);
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8');
  progress.print(sums.replaceAll(/^/gm, '  ').trimEnd());
  if (isTrial) {
    progress.warn(
      `This is a trial. Before you publish, run "npm run release -- ${own.version}" and commit the result.`,
    );
    return;
  }
  if (own.repository === undefined) {
    progress.warn(
      'package.json has no "repository", which provenance needs. Before you publish, run "npm pkg set repository.type=git repository.url=git+https://…".',
    );
  }
  progress.print('\nNext:');
  progress.print(`  git tag -s v${own.version} -m "${own.name} ${own.version}" && git push origin v${own.version}`);
  const path = join(folder, tarball);
  progress.print(
    `  npm publish ${path.startsWith('.') ? path : `./${path}`}  # in a CI job, which signs the provenance`,
  );
}
