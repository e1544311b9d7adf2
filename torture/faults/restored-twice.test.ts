// One backup becomes several stores: it is restored several times, and servers start on plain copies of it. Each store
// then makes its own changes. A number must never identify two changes: it is an ETag, a position in the change log,
// and the id of a webhook message.

import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHANGE_TYPES } from '../../src/domain/names.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { callerOf } from '../../testing/request.ts';
import { addAdmin, makeFolder, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';
import { runCommand } from '../run-build.ts';

const ENV = { WEBHOOK_ALLOW_PRIVATE: '1' };
const PLANTS = 10;

interface Branch {
  server: TestServer;
  /** Number of its newest change, which created its version of plant 0. */
  lastSeq: number;
}

fault({
  name: 'restored twice',
  mark: 'No change number, ETag or webhook-id is used twice. Each store rejects the numbers of the others.',
  rounds: { short: 1, full: 4, of: 'rounds of two restores and one copy of a backup' },
  async trial({ rounds, isFull, launcher, startServer }) {
    const changesEach = isFull ? 300 : 30;
    const receiver = await startReceiver();
    const given = new Map<number, string>();
    const source = await startServer({ folder: makeFolder(), env: ENV });
    const { secret, call } = await addAdmin(source);
    assert.equal((await call('POST', '/webhooks', { url: receiver.url, events: CHANGE_TYPES })).status, 201);
    for (let id = 0; id < PLANTS; id++) await change(source, id, `Plant ${id}`);
    const backup = join(makeFolder(), 'backup.db');
    await runCommand(launcher, ['backup', backup], { DATABASE_URL: source.databaseUrl });
    const branches = [await branchOff(source, 'the store itself')];

    for (let round = 0; round < rounds; round++) {
      for (const way of ['restore', 'restore', 'copy']) {
        const folder = makeFolder();
        const path = join(folder, 'plants.db');
        if (way === 'copy') copyFileSync(backup, path);
        else await runCommand(launcher, ['restore', backup], { DATABASE_URL: `sqlite:${path}` });
        branches.push(await branchOff(await startServer({ folder, env: ENV }), `${way} ${branches.length}`));
      }
    }
    for (const branch of branches) await assertForeign(branch, branches);
    const messages = assertNoMessageTwice();
    for (const { server } of branches) assert.equal(await server.stop(), 0);
    return `${branches.length} stores from one backup, ${given.size} changes and ${messages} webhook messages, no number used twice`;

    async function branchOff(server: TestServer, name: string): Promise<Branch> {
      let lastSeq = 0;
      for (let n = 0; n < changesEach; n++) lastSeq = await change(server, n % PLANTS, `${name}, change ${n}`);
      lastSeq = await change(server, 0, name);
      const call = callerOf(server, secret);
      const follow = await call('GET', `/events?after=${lastSeq}`);
      assert.equal(follow.status, 200, `a store rejects its own change ${lastSeq}: ${follow.body}`);
      await until(() => receiver.received.some(({ seq }) => seq === lastSeq));
      return { server, lastSeq };
    }

    /** Changes a plant, and returns the number of the change. */
    async function change(server: TestServer, id: number, name: string): Promise<number> {
      const { status, headers, body } = await callerOf(server, secret)('PUT', `/plants/${id}`, { name });
      assert.equal(status, 200, body);
      const seq = Number(JSON.parse(String(headers.etag)));
      assert.ok(Number.isSafeInteger(seq), `${headers.etag} is not a safe integer`);
      assert.equal(given.get(seq) ?? name, name, `change number ${seq} was used twice`);
      given.set(seq, name);
      return seq;
    }

    async function assertForeign({ server, lastSeq }: Branch, all: Branch[]): Promise<void> {
      const call = callerOf(server, secret);
      const json = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      for (const other of all.filter((branch) => branch.server !== server)) {
        const { status } = await call('GET', `/events?after=${other.lastSeq}`);
        assert.equal(status, 410, `a reader at change ${other.lastSeq} of another store got ${status}`);
        const stream = await callStream(server, other.lastSeq);
        assert.equal(stream, 410, `a follower from change ${other.lastSeq} of another store got ${stream}`);
        const headers = { ...json, 'if-match': `"${other.lastSeq}"` };
        const stale = await fetch(`${server.url}/plants/0`, { method: 'PUT', headers, body: '{"name":"overwritten"}' });
        assert.equal(stale.status, 412, `an ETag of another store returned ${stale.status}`);
      }
      assert.equal((await call('GET', `/events?after=${lastSeq}`)).status, 200);
    }

    async function callStream(server: TestServer, lastEventId: number): Promise<number> {
      const wanted = { accept: 'text/event-stream', 'last-event-id': String(lastEventId) };
      const response = await fetch(`${server.url}/events`, {
        headers: { authorization: `Bearer ${secret}`, ...wanted },
      });
      await response.body?.cancel();
      return response.status;
    }

    /** Returns the number of messages. A message may be repeated, but only with the same body. */
    function assertNoMessageTwice(): number {
      const bodies = new Map<string, string>();
      for (const { headers, body } of receiver.received) {
        const id = String(headers['webhook-id']);
        assert.equal(bodies.get(id) ?? body, body, `webhook-id ${id} was used twice`);
        bodies.set(id, body);
      }
      return bodies.size;
    }
  },
  controls: {
    'skips the same count of numbers in every restore': {
      change: ['src/storage/sqlite/change-numbers.ts', ' + randomInt(spread)', ''],
      caught: /change number \d+ was used twice/,
    },
    'does not mark a backup as a copy': {
      change: ['src/storage/sqlite/backup-thread.ts', '  changeDraft(markCopy);\n', ''],
      caught: /change number \d+ was used twice/,
    },
    'accepts numbers that it never issued': {
      change: ['src/storage/sqlite/change-numbers.ts', 'OR ?1 > (', 'OR 0 > ('],
      caught: /a reader at change \d+ of another store got 200/,
    },
  },
});
