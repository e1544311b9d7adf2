// Checks of the command doctor on the owners, groups and modes of the files of an SQLite database.

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { toShellWord } from '../../lib/shell-word.ts';
import { requireWritable } from '../../storage/sqlite/file-location.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export function checkAccess({ path }: { path: string }): Finding {
  requireWritable(path);
  const database = statSync(path);
  for (const [name, file] of filesOf(path)) {
    requireWritable(name);
    if (!file.isFile()) return problem(`${name} is not a file`, 'Stop the server and move it away.');
    if (file.uid !== database.uid) {
      return problem(
        `${name} belongs to user ${file.uid}, and the database to user ${database.uid}`,
        `Run "chown ${database.uid} ${toShellWord(name)}" as root. Run commands as the user of the server.`,
      );
    }
    if (wouldAdapt(path, name) && describeGroup(file) !== describeGroup(database)) {
      return warning(
        `${name} has ${describeGroup(file)}, and the database ${describeGroup(database)}, so the content is not checked: SQLite would change the file`,
        'Run this command as the user of the server, not as root, or give both files the same group and mode.',
      );
    }
  }
  return ok('this user can read and write the files');
}

export function checkReadable({ path }: { path: string }): Finding {
  try {
    accessSync(path, constants.R_OK);
    return ok('this user can read the file');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return problem(`this user cannot read ${path} (${code})`, 'Run this command as the user of the server.');
  }
}

/** True if SQLite gives the file the group and the mode of the database when it opens it, which only root can do. */
function wouldAdapt(path: string, name: string): boolean {
  return process.getuid?.() === 0 && name !== `${path}.lock`;
}

function describeGroup({ gid, mode }: Stats): string {
  return `group ${gid} and mode ${(mode & 0o777).toString(8)}`;
}

/** Returns the files that SQLite and the server have beside the database, as far as they exist. */
function filesOf(path: string): [name: string, stat: Stats][] {
  return ['-wal', '-shm', '.lock'].flatMap((suffix) => {
    const stat = statSync(path + suffix, { throwIfNoEntry: false });
    return stat ? [[path + suffix, stat] as [string, Stats]] : [];
  });
}

/** Checks that other users cannot read the tokens and webhook secrets in the files. */
export function checkPrivacy({ path, folder }: { path: string; folder: string }): Finding | undefined {
  if (process.platform === 'win32') return undefined;
  const folderMode = statSync(folder).mode;
  if ((folderMode & 0o1002) === 0o002) {
    return warning(`every user can replace files in ${folder}`, `Run "chmod o-w ${toShellWord(folder)}".`);
  }
  const files: [string, Stats][] = [[path, statSync(path)], ...filesOf(path)];
  const open = files.filter(([, { mode }]) => (mode & 0o006) !== 0).map(([name]) => name);
  if (open.length === 0 || (folderMode & 0o001) === 0) return ok('other users cannot read the files');
  return warning(
    `other users can read ${open.map((name) => basename(name)).join(', ')}, with the secrets of webhooks`,
    `Run "chmod o= ${open.map(toShellWord).join(' ')}".`,
  );
}
