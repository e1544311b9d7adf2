// Another user of the machine polls the folder while backups are created and restored. Signals end some of them midway.
// A backup contains the hashes of all tokens and the secrets of all webhooks.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { besideServer, makeFolder } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import { runCommand } from '../run-build.ts';

const NOBODY = 65534;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Maximum attempts to deliver a signal while the command works, and not before or after. */
const TRIES = 20;
/** Makes a backup slow enough to be watched and interrupted. */
const PADDING = 'x'.repeat(5000);

/** Prints each file that it can read, or whose mode grants rights to other users. */
const WATCH = `
  const { openSync, readdirSync, statSync } = require('node:fs');
  const folder = process.argv[1];
  const said = new Set();
  const say = (text) => said.has(text) || (said.add(text), process.stdout.write(text + '\\n'));
  function look() {
    for (const name of readdirSync(folder)) {
      const stat = statSync(folder + '/' + name, { throwIfNoEntry: false });
      if (stat && stat.mode & 0o077) say(name + ' has mode ' + (stat.mode & 0o777).toString(8));
      try {
        openSync(folder + '/' + name, 'r');
        say(name + ' can be read');
      } catch {}
    }
    setImmediate(look);
  }
  look();
  say('watching');`;

fault({
  name: 'backup while other users watch',
  mark: 'Every file has mode 0600 from its first byte. A signal or a full disk leaves no partial file.',
  rounds: { short: 1, full: 10, of: 'backups and restores, each completed once and interrupted once' },
  skip: whyNot(),
  async trial({ t, rounds, isFull, random, launcher }) {
    const folder = makeFolder();
    chmodSync(folder, 0o755);
    const store = join(folder, 'plants.db');
    const env = { DATABASE_URL: `sqlite:${store}` };
    const watcher = spawn(process.execPath, ['-e', WATCH, folder], { uid: NOBODY, gid: NOBODY });
    t.after(() => watcher.kill());
    let seen = '';
    watcher.stdout.on('data', (chunk) => {
      seen += chunk;
    });
    await until(() => seen.includes('watching'));
    const plants = Array.from(
      { length: isFull ? 3000 : 800 },
      (_, id) => `{"id":${id},"name":"Plant ${id} ${PADDING}"}\n`,
    );
    const file = join(makeFolder(), 'plants.ndjson');
    writeFileSync(file, plants.join(''));
    await besideServer(env.DATABASE_URL, async () => {});
    await runCommand(launcher, ['import', file], env);
    const usual = namesIn(folder);
    const counts = { backups: 0, restores: 0, signals: 0 };

    for (let round = 0; round < rounds; round++) {
      await runCommand(launcher, ['backup', join(folder, 'backup.db')], env);
      counts.backups++;
      await interrupt(['backup', join(folder, 'other.db')], env, join(folder, 'other.db'));

      const backup = join(makeFolder(), 'readable.db');
      await runCommand(launcher, ['backup', backup], env);
      chmodSync(backup, 0o644); // the owner may want this mode for the backup, but not for the store
      const restored = { DATABASE_URL: `sqlite:${join(folder, 'restored.db')}` };
      await interrupt(['restore', backup], restored, join(folder, 'restored.db'));
      await runCommand(launcher, ['restore', backup], restored);
      counts.restores++;
      for (const name of namesIn(folder)) if (!usual.includes(name)) rmSync(join(folder, name));
      assertUnseen();
    }
    if (isFull) assertNothingLeftOnFullDisk();
    return `${counts.backups} backups, ${counts.restores} restores, ${counts.signals} interrupted: no file readable by others, no partial file`;

    /** Sends one or two signals while the command writes the draft. */
    async function interrupt(args: string[], env: Record<string, string>, target: string): Promise<void> {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const signal = random.pick(SIGNALS);
        const child = spawn(process.execPath, [launcher, ...args], { env: { PATH: process.env.PATH, ...env } });
        const exited = once(child, 'exit');
        await Promise.race([exited, untilDraft(target, child)]);
        child.kill(signal);
        if (random.below(2) === 0) child.kill(signal);
        const [status, endedBy] = await exited;
        assertUnseen();
        const left = namesIn(folder).filter((name) => name.includes('.part'));
        assert.deepEqual(left, [], `${args[0]} left ${left} after ${signal}`);
        if (status === 0) {
          rmSync(target, { force: true }); // the command finished before the signal
          continue;
        }
        assert.equal(endedBy, signal, `${args[0]} ended with ${status ?? endedBy} after ${signal}`); // a shell reports 130 for SIGINT
        assert.equal(existsSync(target), false);
        counts.signals++;
        return;
      }
      assert.fail(`${args[0]} was not interrupted in ${TRIES} attempts`);
    }

    function assertUnseen(): void {
      const [first] = seen.split('\n').filter((line) => line !== '' && line !== 'watching');
      assert.equal(first, undefined, `another user observed: ${first}`);
    }

    function assertNothingLeftOnFullDisk(): void {
      const disk = makeFolder();
      assert.equal(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', disk]).status, 0);
      t.after(() => spawnSync('umount', ['-l', disk]));
      const args = [launcher, 'backup', join(disk, 'backup.db')];
      const { status, stderr } = spawnSync(process.execPath, args, {
        env: { PATH: process.env.PATH, ...env },
        encoding: 'utf8',
      });
      assert.equal(status, 1);
      assert.match(stderr, /^plant-store: .*backup\.db.*full.*\n$/);
      assert.deepEqual(readdirSync(disk), [], 'a full disk left a partial file');
    }
  },
  controls: {
    'creates a backup with mode 0644': {
      change: ['src/storage/sqlite/backup.ts', `openSync(draft, 'wx', 0o600)`, `openSync(draft, 'wx', 0o644)`],
      caught: /another user observed: backup\.db\S* (has mode 644|can be read)/,
    },
    "gives a restored store the backup's mode": {
      change: [
        'src/storage/sqlite/backup-thread.ts',
        'async function restore(): Promise<void> {\n',
        `async function restore(): Promise<void> {\n  (await import('node:fs')).copyFileSync(from, draft);\n`,
      ],
      caught: /another user observed: restored\.db\.\w+\.part (has mode 644|can be read)/,
    },
    'leaves its draft after a signal': {
      change: ['src/lib/undo-at-end.ts', '  pending.add(undoOnce);\n', ''],
      caught: /left (other|restored)\.db\.\w+\.part/,
    },
    'exits with 1 instead of dying from the signal': {
      change: ['src/lib/undo-at-end.ts', 'process.kill(process.pid, signal);', 'process.exit(1);'],
      caught: /(backup|restore) ended with 1 after SIG/,
    },
    'leaves its draft on a full disk': {
      changes: [
        ['src/storage/sqlite/backup.ts', '    discard(); // a complete draft has its final name by now\n', ''],
        ['src/lib/undo-at-end.ts', "process.on('exit', undoAll);\n", ''],
      ],
      caught: /a full disk left a partial file/,
    },
  },
});

/** Waits until the draft has bytes or the command ends. The draft disappears when the command completes. */
async function untilDraft(target: string, child: ChildProcess): Promise<void> {
  const hasDraft = () =>
    namesIn(dirname(target)).some(
      (name) =>
        name.startsWith(`${basename(target)}.`) &&
        name.endsWith('.part') &&
        (statSync(join(dirname(target), name), { throwIfNoEntry: false })?.size ?? 0) > 0,
    );
  while (child.exitCode === null && !hasDraft()) await sleep(1);
}

function namesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root to run a process as another user';
  const { status } = spawnSync(process.execPath, ['-e', ''], { uid: NOBODY, gid: NOBODY });
  return status === 0 ? undefined : 'another user cannot execute the program in this folder';
}
