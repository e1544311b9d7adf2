// One database file under two names: a hard link, a symbolic link, a mount of the file or of its folder, each also from
// another mount namespace. A second server starts through the other name while the first one writes. Another starts
// after kill -9 of the first, when the newest records are only in the WAL of the first name.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { linkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { Ledger } from '../ledger.ts';
import { runBuild } from '../run-build.ts';

const SERVED = /^plant-store: [^\n]*another server[^\n]*\n$/i;
const HARD_LINK = /^plant-store: [^\n]*hard links?\b[^\n]*\n$/;
const MOUNTED_FILE = /^plant-store: [^\n]*\bmount[^\n]*\n$/i;
/** One for each kind of refusal, and one that only the kernel's lock detects. */
const IN_SHORT = ['a hard link', 'a mount of the file', 'a mount of the folder in another namespace'];
/** Command prefix for a mount namespace, visible only to the process started in it. */
const NAMESPACE = ['unshare', '--mount', '--propagation', 'private'];

interface Other {
  /** Command prefix of the second server. */
  wrapper?: string[];
  path: string;
  refusal: RegExp;
  /** True if it is the same folder. A server may start there after kill -9, since it finds the same WAL. */
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
    const other = join(makeFolder(), 'other file.db'); // the mount list escapes the space
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
  name: 'same file under another name',
  mark: 'The second server refuses to start, and the first continues. No acknowledged record is lost, even after kill -9.',
  rounds: { short: 1, full: 5, of: `rounds of ${Object.keys(WAYS).length} ways to give the file another name` },
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
        await assertRefused(`a second server started through ${way} next to the first`, other);
        other.remove();
        await ledger.grows();
      }
      await server.kill();
      await writing;
      for (const [way, makeOther] of ways) {
        const other = makeOther(server.databasePath);
        t.after(other.remove);
        if (!other.isSafe) await assertRefused(`a server started through ${way} after kill -9 of the first`, other);
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
    'does not check for hard links': {
      change: ['src/storage/sqlite/file-location.ts', 'if (stat.nlink > 1) {', 'if (stat.nlink > 99) {'],
      caught: /a second server started through a hard link next to the first: null/,
    },
    'does not check for a mounted file': {
      change: ['src/storage/sqlite/file-location.ts', 'if (isMountPoint(path)) {', 'if (path === undefined) {'],
      caught: /a second server started through a mount of the file next to the first: null/,
    },
    'compares paths with the mount list without escaping': {
      change: ['src/storage/sqlite/file-location.ts', '.replace(/[ \\t\\n\\\\]/g', '.replace(/[\\0]/g'],
      caught: /a second server started through a mount of the file next to the first: null/,
    },
    'does not take the lock': {
      change: ['src/storage/sqlite/server-lock.ts', 'BEGIN EXCLUSIVE', 'BEGIN'],
      caught: /a second server started through a symbolic link next to the first: null/,
    },
  },
});

/** Mounts the source at the target, and returns a function that unmounts it. */
function mount(source: string, target: string): () => void {
  assert.equal(spawnSync('mount', ['--bind', source, target]).status, 0, `cannot mount ${source}`);
  return () => spawnSync('umount', ['-l', target]);
}

function mountedApart(source: string, target: string): string[] {
  return [...NAMESPACE, 'sh', '-c', 'mount --bind "$1" "$2" && shift 2 && exec "$@"', 'sh', source, target];
}

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root to mount';
  const mounts = spawnSync(NAMESPACE[0] ?? '', [...NAMESPACE.slice(1), 'mount', '--bind', '/tmp', '/tmp']);
  return mounts.status === 0 ? undefined : 'root may not mount on this machine';
}
