// A database file under two names: a hard link, a symbolic link, a mount of the file, a mount of its folder, each also
// seen from another mount namespace. A second server is started through the other name while the first one writes, and
// once more after kill -9 of the first, when the newest records are only in the WAL of the first name.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { linkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { runBuild } from '../run-build.ts';

const SERVED = /^plant-store: Another server is using .*\. Stop it, or set DATABASE_URL to another file\.\n$/;
const HARD_LINK =
  /^plant-store: .* has 2 names \(hard links\).*\. Stop every server that uses it and remove the other names.*\n$/;
const MOUNTED_FILE = /^plant-store: .* is mounted as a single file.*\. Mount its folder instead\.\n$/;
/** One for each refusal, and one that only the kernel's lock tells. */
const IN_SHORT = ['a hard link', 'a mount of the file', 'a mount of the folder in another namespace'];
/** Seen only by what is started with it. */
const NAMESPACE = ['unshare', '--mount', '--propagation', 'private'];

interface Other {
  /** Put before the command line of the second server. */
  wrapper?: string[];
  path: string;
  refusal: RegExp;
  /** The same folder: after kill -9 a server may start there, as it finds the same WAL. */
  isSafe?: true;
  remove(): void;
}

const WAYS: Record<string, (path: string) => Other> = {
  'a hard link'(path) {
    const other = join(makeFolder(), 'other.db');
    linkSync(path, other);
    return { path: other, refusal: HARD_LINK, remove: () => rmSync(other, { force: true }) };
  },
  'a symbolic link'(path) {
    const other = join(makeFolder(), 'other.db');
    symlinkSync(path, other);
    return { path: other, refusal: SERVED, isSafe: true, remove() {} };
  },
  'a mount of the file'(path) {
    const other = join(makeFolder(), 'other file.db'); // whose name is escaped in the list of mounts
    writeFileSync(other, '');
    return { path: other, refusal: MOUNTED_FILE, remove: mount(path, other) };
  },
  'a mount of the folder'(path) {
    const folder = makeFolder();
    const remove = mount(dirname(path), folder);
    return { path: join(folder, 'plants.db'), refusal: SERVED, isSafe: true, remove };
  },
  'a mount of the file in another namespace'(path) {
    const other = join(makeFolder(), 'other.db');
    writeFileSync(other, '');
    return { wrapper: mountedApart(path, other), path: other, refusal: MOUNTED_FILE, remove() {} };
  },
  'a mount of the folder in another namespace'(path) {
    const folder = makeFolder();
    const wrapper = mountedApart(dirname(path), folder);
    return { wrapper, path: join(folder, 'plants.db'), refusal: SERVED, isSafe: true, remove() {} };
  },
};

fault({
  name: 'the same file under another name',
  mark: 'the second server refuses, the first continues, 0 acknowledged records lost, also after kill -9',
  rounds: { short: 1, full: 5, of: `times ${Object.keys(WAYS).length} ways to give the file another name` },
  skip: whyNot(),
  async trial({ t, rounds, isFull, launcher, startServer }) {
    const ways = Object.entries(WAYS).filter(([way]) => isFull || IN_SHORT.includes(way));
    const folder = makeFolder();
    const ledger = new Ledger();
    let refused = 0;
    for (let round = 0; round < rounds; round++) {
      const server = await startServer({ folder });
      const writing = ledger.write(server, { connections: 4 });
      for (const [way, makeOther] of ways) {
        await ledger.grows();
        const other = makeOther(server.databasePath);
        t.after(other.remove);
        await assertRefused(`through ${way} a second server starts beside the first`, other);
        other.remove();
        await ledger.grows();
      }
      await server.kill();
      await writing;
      for (const [way, makeOther] of ways) {
        const other = makeOther(server.databasePath);
        t.after(other.remove);
        if (!other.isSafe) await assertRefused(`through ${way} a server starts after kill -9 of the first`, other);
        other.remove();
      }
    }
    ledger.assertKept(join(folder, 'plants.db'));
    return `${refused} starts refused, ${ledger.acknowledged.size} acknowledged, 0 lost`;

    async function assertRefused(mistake: string, { path, wrapper, refusal }: Other): Promise<void> {
      const env = { DATABASE_URL: `sqlite:${path}` };
      const { status, stderr } = await runBuild(launcher, ['serve'], { env, ...(wrapper && { wrapper }) });
      assert.equal(status, 1, `${mistake}: ${status}`);
      assert.match(stderr, refusal);
      refused++;
    }
  },
  controls: {
    'one that does not count hard links': {
      change: ['src/storage/sqlite/file-location.ts', 'if (stat.nlink > 1) {', 'if (stat.nlink > 99) {'],
      caught: /through a hard link a second server starts beside the first: null/,
    },
    'one that does not look for a mount of the file': {
      change: ['src/storage/sqlite/file-location.ts', 'if (isMountPoint(path)) {', 'if (path === undefined) {'],
      caught: /through a mount of the file a second server starts beside the first: null/,
    },
    'one that compares paths with the list of mounts as they are': {
      change: ['src/storage/sqlite/file-location.ts', '.replace(/[ \\t\\n\\\\]/g', '.replace(/[\\0]/g'],
      caught: /through a mount of the file a second server starts beside the first: null/,
    },
    'one that does not take the lock': {
      change: ['src/storage/sqlite/server-lock.ts', 'BEGIN EXCLUSIVE', 'BEGIN'],
      caught: /through a symbolic link a second server starts beside the first: null/,
    },
  },
});

/** Gives how to end it. */
function mount(source: string, target: string): () => void {
  assert.equal(spawnSync('mount', ['--bind', source, target]).status, 0, `cannot mount ${source}`);
  return () => spawnSync('umount', ['-l', target]);
}

function mountedApart(source: string, target: string): string[] {
  return [...NAMESPACE, 'sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh', source, target];
}

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, to mount';
  const mounts = spawnSync(NAMESPACE[0] ?? '', [...NAMESPACE.slice(1), 'mount', '--bind', '/tmp', '/tmp']);
  return mounts.status === 0 ? undefined : 'this machine does not let root mount';
}
