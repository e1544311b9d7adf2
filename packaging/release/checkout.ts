// The git checkout that a release is made from.

import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../src/lib/user-error.ts';
import { runCommand } from '../run-command.ts';

/** Throws a UsageError unless this folder is the root of a git checkout without uncommitted changes. */
export async function requireCleanCheckout(root: string, allowDirty: boolean): Promise<void> {
  if (!existsSync(join(root, '.git'))) throw new UsageError('A release needs a git checkout of the project');
  const changed = await listChanges(root);
  if (changed.length === 0 || allowDirty) return;
  throw new UsageError(
    `The checkout has uncommitted changes, such as ${changed[0]}. Commit them, or add --allow-dirty for a trial.`,
  );
}

/** Returns the files that differ from the last commit, and the new ones that git does not ignore. */
export async function listChanges(root: string): Promise<string[]> {
  const lines = await runCommand('git', ['status', '--porcelain', '--no-renames'], { cwd: root });
  return lines.split('\n').flatMap((line) => (line === '' ? [] : [line.slice(3)]));
}

/** Returns the short id of the last commit. */
export async function lastCommit(root: string): Promise<string> {
  return (await runCommand('git', ['rev-parse', '--short', 'HEAD'], { cwd: root })).trim();
}

/** Returns the git tree of the files in the checkout: that of the last commit, with the changes since then. */
export async function writeTree(root: string, temporary: string): Promise<string> {
  const options = { cwd: root, env: { ...process.env, GIT_INDEX_FILE: join(temporary, 'index') } };
  await runCommand('git', ['read-tree', 'HEAD'], options);
  await runCommand('git', ['add', '--all'], options);
  return (await runCommand('git', ['write-tree'], options)).trim();
}

/** Copies the files of a tree to a new folder. Ignored files cannot get into it, and modes do not depend on the user. */
export async function exportTree(root: string, tree: string, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const archive = join(folder, 'export.tar');
  await runCommand('git', ['-c', 'tar.umask=0022', 'archive', '--output', archive, tree], { cwd: root });
  await runCommand('tar', ['-xf', archive], { cwd: folder });
}
