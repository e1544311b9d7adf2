// Checks of the command doctor on the location of an SQLite database: names, folder, file system and free space.

import { accessSync, constants, existsSync, realpathSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { OWN_COMMAND } from '../../config/command-name.ts';
import { docsPage } from '../../lib/docs-page.ts';
import { toSize } from '../../lib/size.ts';
import { UserError } from '../../lib/user-error.ts';
import { requireWritable } from '../../storage/sqlite/file-location.ts';
import { type Check, type Finding, ok, problem, warning } from './finding.ts';
import { checkAccess, checkPrivacy, checkReadable } from './sqlite-access.ts';

const MIB = 1024 * 1024;
const MIN_FREE_BYTES = 100 * MIB;
const LOW_FREE_BYTES = 1024 * MIB;
const MIN_FREE_FILES = 100;

/** File systems of Linux by their number in statfs(2), with the reason why they are not safe. */
const FILE_SYSTEMS = new Map<number, [name: string, kind: 'local' | 'network' | 'memory' | 'container' | 'program']>([
  [0xef53, ['ext4', 'local']],
  [0x58465342, ['XFS', 'local']],
  [0x9123683e, ['Btrfs', 'local']],
  [0x2fc12fc1, ['ZFS', 'local']],
  [0xf2f52010, ['F2FS', 'local']],
  [0x6969, ['NFS', 'network']],
  [0x517b, ['SMB', 'network']],
  [0xff534d42, ['CIFS', 'network']],
  [0xfe534d42, ['SMB', 'network']],
  [0x01021997, ['9p', 'network']],
  [0x00c36400, ['Ceph', 'network']],
  [0x0bd00bd0, ['Lustre', 'network']],
  [0x5346414f, ['AFS', 'network']],
  [0x786f4256, ['vboxsf', 'network']],
  [0x65735546, ['FUSE', 'program']],
  [0x01021994, ['tmpfs', 'memory']],
  [0x858458f6, ['ramfs', 'memory']],
  [0x794c7630, ['overlayfs', 'container']],
]);

interface Location {
  /** Absolute path, with symbolic links resolved if the file exists. */
  path: string;
  /** Size of the file. Undefined if it does not exist. */
  bytes: number | undefined;
  /** The folder of the file, or the nearest folder above it that exists. */
  folder: string;
}

export const LOCATION: Record<string, Check<Location>> = {
  access: checkAccess,
  privacy: checkPrivacy,
  disk: checkFileSystem,
  'free space': checkFreeSpace,
};

/** Checks of a file that is not a store. Advice to change it could do harm: it may be a file of the system. */
export const OTHER_FILE: Record<string, Check<Location>> = {
  access: checkReadable,
  disk: checkFileSystem,
  'free space': checkFreeSpace,
};

/** Checks of a location without a database. */
export const MISSING: Record<string, Check<Location>> = {
  database: checkMissing,
  access: checkFolder,
  disk: checkFileSystem,
  'free space': checkFreeSpace,
};

export function locate(givenPath: string): Location {
  const absolute = resolve(givenPath);
  const isThere = existsSync(absolute); // false as well if this user cannot open the folder
  const path = isThere ? realpathSync(absolute) : absolute;
  let folder = dirname(path);
  while (!existsSync(folder)) folder = dirname(folder);
  return { path, bytes: isThere ? statSync(path).size : undefined, folder };
}

function checkMissing({ path, folder }: Location): Finding {
  requireReadable(folder);
  if (dirname(path) === folder) requireWritable(path); // reports a link to a missing file
  if (existsSync(`${path}-wal`)) {
    return problem(
      `${path} is missing, but its WAL ${path}-wal exists`,
      'Restore the file, or move the WAL away to start over.',
    );
  }
  return problem(
    `no database at ${path}`,
    `If a server is in use elsewhere, run this command in its folder or set DATABASE_URL as for the server. To create a new store here, run "${OWN_COMMAND} serve".`,
  );
}

/** Throws UserError if this user cannot see the files of a folder, so that a missing file means nothing. */
function requireReadable(folder: string): void {
  if (!statSync(folder).isDirectory())
    throw new UserError(`${folder} is a file. Set DATABASE_URL to a file in a folder.`);
  try {
    accessSync(folder, constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UserError(`This user cannot open the folder ${folder} (${code}). Run as the user of the server.`);
  }
}

function checkFolder({ folder }: Location): Finding {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return ok(`this user can create files in ${folder}`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return problem(`this user cannot create files in ${folder} (${code})`, 'Run as its owner, or change its owner.');
  }
}

async function checkFileSystem({ folder }: Location): Promise<Finding | undefined> {
  if (process.platform !== 'linux') return undefined; // other systems number their file systems differently
  const type = (await statfs(folder)).type >>> 0;
  const [name, kind] = FILE_SYSTEMS.get(type) ?? [`0x${type.toString(16)}`, 'local'];
  const found = `${folder} is on ${name}`;
  switch (kind) {
    case 'local':
      return ok(`file system ${name}`);
    case 'network':
      return problem(`${found}, a network file system, which can corrupt SQLite databases`, 'Use a local disk.');
    case 'program':
      return warning(`${found}, whose locks and syncs depend on another program`, 'Use a local disk.');
    case 'memory':
      return warning(`${found}, in memory: a restart of the machine deletes the data`, 'Use a local disk.');
    case 'container':
      return warning(
        `${found}: in a container, the data is deleted together with the container`,
        `Mount a volume at this folder: see ${docsPage('guides/install.md')}.`,
      );
  }
}

export async function checkFreeSpace({ folder, bytes = 0 }: Omit<Location, 'path'>): Promise<Finding> {
  const { bavail, bsize, files, ffree } = await statfs(folder);
  const free = bavail * bsize;
  const found = `${toSize(free)} free on the disk of ${folder}`;
  const advice = `Free space, or prune the change log: "${OWN_COMMAND} changes prune --older-than 90d".`;
  if (free < MIN_FREE_BYTES) return problem(found, advice);
  if (files > 0 && ffree < MIN_FREE_FILES) {
    return problem(`no room for further files (inodes) on the disk of ${folder}`, 'Remove files that are not needed.');
  }
  if (free < Math.max(LOW_FREE_BYTES, bytes)) return warning(found, advice);
  return ok(found);
}
