// Another user of the machine looks into the folder all the time while backups are made and restored, and signals end
// some of them in the middle. A backup holds the hashes of all tokens and the secrets of all webhooks.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolder } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import { runCommand } from '../run-build.ts';

const NOBODY = 65534;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Until a signal comes in the middle of the work, and not before or after it. */
const TRIES = 20;
/** So that it takes long enough to be watched, and interrupted. */
const PADDING = 'x'.repeat(5000);

/** Prints every file that it sees with rights for others, or can read. */
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
  name: 'a backup while others watch',
  mark: 'every file has mode 0600 from its first byte; a signal or a full disk leaves no partial file',
  rounds: { short: 1, full: 10, of: 'backups and restores, each once to the end and once to a signal' },
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
    await runCommand(launcher, ['import', file], env);
    const usual = namesIn(folder);
    const counts = { backups: 0, restores: 0, signals: 0 };

    for (let round = 0; round < rounds; round++) {
      await runCommand(launcher, ['backup', join(folder, 'backup.db')], env);
      counts.backups++;
      await interrupt(['backup', join(folder, 'other.db')], env, join(folder, 'other.db'));

      const backup = join(makeFolder(), 'readable.db');
      await runCommand(launcher, ['backup', backup], env);
      chmodSync(backup, 0o644); // its owner may have wanted that, and yet not for the store
      const restored = { DATABASE_URL: `sqlite:${join(folder, 'restored.db')}` };
      await interrupt(['restore', backup], restored, join(folder, 'restored.db'));
      await runCommand(launcher, ['restore', backup], restored);
      counts.restores++;
      for (const name of namesIn(folder)) if (!usual.includes(name)) rmSync(join(folder, name));
      assertUnseen();
    }
    if (isFull) assertNothingLeftOnFullDisk();
    return `${counts.backups} backups, ${counts.restores} restores, ${counts.signals} signals in the middle: no file for others, none left`;

    /** Sends a signal while the draft is being written, and perhaps a second one. */
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
        assert.deepEqual(left, [], `${args[0]} leaves ${left} after ${signal}`);
        if (status === 0) {
          rmSync(target, { force: true }); // it was done before
          continue;
        }
        assert.equal(endedBy, signal, `${args[0]} ends with ${status ?? endedBy} after ${signal}`); // 130 in a shell
        assert.equal(existsSync(target), false);
        counts.signals++;
        return;
      }
      assert.fail(`${args[0]} was never interrupted in ${TRIES} tries`);
    }

    function assertUnseen(): void {
      const [first] = seen.split('\n').filter((line) => line !== '' && line !== 'watching');
      assert.equal(first, undefined, `another user sees that ${first}`);
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
      assert.match(stderr, /^plant-store: Cannot write .*backup\.db: .*full\n$/);
      assert.deepEqual(readdirSync(disk), [], 'a full disk leaves a partial file');
    }
  },
  controls: {
    'one that writes a backup with the mode of any file': {
      change: ['src/storage/sqlite/backup.ts', `openSync(draft, 'wx', 0o600)`, `openSync(draft, 'wx', 0o644)`],
      caught: /another user sees that backup\.db\S* (has mode 644|can be read)/,
    },
    'one that gives a restored store the mode of the backup': {
      change: [
        'src/storage/sqlite/backup-thread.ts',
        'async function restore(): Promise<void> {\n',
        `async function restore(): Promise<void> {\n  (await import('node:fs')).copyFileSync(from, draft);\n`,
      ],
      caught: /another user sees that restored\.db\.part (has mode 644|can be read)/,
    },
    'one that leaves its draft after a signal': {
      change: ['src/cli/backup.ts', '    removeDraft(file);\n', ''],
      caught: /leaves (other|restored)\.db\.part/,
    },
    'one that does not die of the signal': {
      change: ['src/cli/interrupt.ts', 'process.kill(process.pid, signal);', 'process.exit(1);'],
      caught: /(backup|restore) ends with 1 after SIG/,
    },
    'one that leaves its draft on a full disk': {
      change: [
        'src/storage/sqlite/backup.ts',
        '  } catch (error) {\n    removeDraft(file);\n',
        '  } catch (error) {\n',
      ],
      caught: /a full disk leaves a partial file/,
    },
  },
});

/** Written to, and not there any more when the work is done. */
async function untilDraft(target: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null && (statSync(`${target}.part`, { throwIfNoEntry: false })?.size ?? 0) === 0)
    await sleep(1);
}

function namesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

function whyNot(): string | undefined {
  if (process.getuid?.() !== 0) return 'needs root, to be another user';
  const { status } = spawnSync(process.execPath, ['-e', ''], { uid: NOBODY, gid: NOBODY });
  return status === 0 ? undefined : 'another user cannot run the program of this folder';
}
