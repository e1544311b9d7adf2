// Tests that commands print a new secret while the store is open. Closing the store can fail, and would lose the secret.

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { runInProcess } from '../../testing/command-line.ts';
import { makeStoreFolder } from '../../testing/server.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import { runCommand } from './run.ts';

test('commands print a new secret before they close the store', async () => {
  const path = join(await makeStoreFolder(), 'plants.db');
  const env = { DATABASE_URL: `sqlite:${path}` };
  await runInProcess(['token', 'create', '--name', 'x'], { env });
  const token = JSON.parse((await runInProcess(['token', 'list'], { env })).stdout);
  await runInProcess(['webhook', 'add', 'https://example.com/'], { env });
  const webhook = JSON.parse((await runInProcess(['webhook', 'list'], { env })).stdout);
  for (const args of [
    ['token', 'create', '--name', 'y'],
    ['token', 'rotate', token.id],
    ['webhook', 'add', 'https://example.com/'],
    ['webhook', 'rotate', webhook.id],
  ]) {
    assert.equal(await isOpenWhenPrinted(args, env, path), true, args.join(' '));
    assert.equal(existsSync(`${path}-wal`), false); // the store is closed now
  }
});

test('a secret that cannot be printed is reported as lost, with the command for another one', async () => {
  const path = join(await makeStoreFolder(), 'plants.db');
  const io = {
    env: { DATABASE_URL: `sqlite:${path}` },
    stdin: Readable.from([]),
    stdout: new Writable({ write: (_chunk, _encoding, done) => done(new Error('write EPIPE')) }),
    stderr: new Writable({
      write(chunk, _encoding, done) {
        printed += chunk;
        done();
      },
    }),
  };
  let printed = '';
  io.stdout.on('error', () => {});
  const status = await runCommand(['token', 'create', '--name', 'y'], Object.assign(new EventEmitter(), io));
  assert.equal(status, 1);
  const advice = `The new secret was not printed and is lost. Run "${OWN_COMMAND} token rotate tok_`;
  assert.ok(printed.includes(`\n${advice}`), printed);
  assert.match(printed, /^plant-store: Cannot write to standard output: write EPIPE$/m);
});

/** True if the WAL, which a closed store does not have, existed when the command printed its secret. */
async function isOpenWhenPrinted(args: string[], env: Record<string, string>, path: string): Promise<boolean> {
  let isOpen = false;
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      if (/(pst_|whsec_)/.test(String(chunk))) isOpen = existsSync(`${path}-wal`);
      done();
    },
  });
  const io = {
    env,
    stdin: Readable.from([]),
    stdout,
    stderr: new Writable({ write: (_chunk, _encoding, done) => done() }),
  };
  assert.equal(await runCommand(args, Object.assign(new EventEmitter(), io)), 0);
  return isOpen;
}
