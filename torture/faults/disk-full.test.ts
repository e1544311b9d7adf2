// A small disk, mounted for this trial, runs out of space and gets new space again, several times.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WRITES_RECOVER_MS } from '../../src/observability/report-states-once.ts';
import { type Answer, callerOf } from '../../testing/request.ts';
import { makeFolder, query } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault } from '../fault.ts';

/** Space added after each outage. It must also hold the WAL, which SQLite copies back into the database file. */
const ROOM_KIB = 6 * 1024;
const PADDING = 'x'.repeat(20_000);
const RECOVERS_WITHIN_MS = 5000;
/** The server probes once a second. Each probe can find one more page in the WAL space of the rejected write. */
const NOT_READY_WITHIN_MS = 20_000;

fault({
  name: 'disk full',
  mark: 'Writes return 503 and reads 200. The server recovers without help when the disk has space again. No acknowledged record is lost.',
  rounds: { short: 1, full: 10, of: 'rounds of a full disk and new space' },
  skip: whyNot(),
  async trial({ t, rounds, random, startServer }) {
    const folder = makeFolder();
    let sizeKib = 1024 + random.below(ROOM_KIB);
    mount(folder, `size=${sizeKib}k`);
    t.after(() => spawnSync('umount', ['-l', folder]));
    const ballast = join(folder, 'ballast');
    const server = await startServer({ folder });
    const call = callerOf(server, server.secret);
    const acknowledged = new Map<number, string>();
    let nextId = 1;

    /** Creates plants until the server rejects one, and returns it. */
    async function fill(padding: string): Promise<{ id: number; name: string; answer: Answer }> {
      for (;;) {
        const id = nextId++;
        const name = `word${id}s ${padding}`;
        const answer = await call('POST', '/plants', { id, name });
        if (answer.status !== 200) return { id, name, answer };
        acknowledged.set(id, name);
      }
    }

    for (let round = 0; round < rounds; round++) {
      const { id, name, answer } = await fill(PADDING);
      assert.equal(answer.status, 503, `a full disk returned ${answer.status}: ${answer.body}`);
      const returned = `a full disk returned ${answer.body}`;
      assert.match(answer.body, /"error":50300,"message":"[^"]*disk[^"]* full/, returned);
      assert.throws(() => writeFileSync(ballast, Buffer.alloc(ROOM_KIB * 1024)), /ENOSPC/); // fills the disk to the last byte
      await fill(''); // these use up the WAL space of the rejected write
      for (const id of acknowledged.keys()) assert.equal((await call('GET', `/plants/${id}`)).status, 200, `GET ${id}`);
      assert.equal((await call('GET', '/plants?limit=5')).status, 200, 'a list failed');
      assert.equal((await call('GET', '/healthz')).status, 200);
      const notReady = await untilStatus(503, () => call('GET', '/readyz'), NOT_READY_WITHIN_MS);
      assert.equal(notReady.headers['retry-after'], '1');

      rmSync(ballast);
      sizeKib += ROOM_KIB + random.below(ROOM_KIB);
      mount(folder, `remount,size=${sizeKib}k`);
      await untilStatus(200, () => call('POST', '/plants', { id, name }));
      acknowledged.set(id, name);
      const { body } = await call('GET', `/plants?q=word${id}`);
      const found = JSON.parse(body)[0]?.id;
      assert.equal(found, id, `record ${id} was rejected, then stored, but a prefix search does not find it`);
      await untilStatus(200, () => call('GET', '/readyz'));
    }
    await until(() => linesOfState(server.output()).at(-1) === 'recovered', 2 * WRITES_RECOVER_MS);
    assert.equal(await server.stop(), 0);
    const stored = new Map(
      query(server.databasePath, 'SELECT id, name FROM plants').map(({ id, name }) => [Number(id), name]),
    );
    const lost = [...acknowledged].filter(([id, name]) => stored.get(id) !== name);
    assert.equal(lost.length, 0, `${lost.length} of ${acknowledged.size} acknowledged records are lost`);
    assert.deepEqual(query(server.databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
    const turns = linesOfState(server.output());
    assert.ok(turns.length <= 2 * rounds, `the log has ${turns.length} writes_failing and writes_recovered lines`);
    const inTurns = turns.map((_, n) => (n % 2 === 0 ? 'failing' : 'recovered'));
    assert.deepEqual(turns, inTurns, 'the log reports that writes fail or recover twice in a row');
    return `${acknowledged.size} acknowledged, 0 lost; each time 503, reads 200, then recovered`;
  },
  controls: {
    'treats a full disk as a fatal error': {
      change: ['src/storage/sqlite/sqlite-errors.ts', `13: 'full'`, `13: 'fatal'`],
      caught: /a full disk returned \{"error":50300,"message":"(?![^"]*disk)|ECONNREFUSED/, // in a write or in a checkpoint
    },
    'keeps the search words of a rejected write': {
      change: ['src/storage/sqlite/writer-thread.ts', 'vocabulary.reset();', ''],
      caught: /record \d+ was rejected, then stored, but a prefix search does not find it/,
    },
  },
});

function linesOfState(output: string): string[] {
  return output.match(/(?<="kind":"writes_)(failing|recovered)/g) ?? [];
}

async function untilStatus(status: number, ask: () => Promise<Answer>, withinMs = RECOVERS_WITHIN_MS): Promise<Answer> {
  let last: Answer | undefined;
  const message = () => `still ${last?.status}, not ${status}: ${last?.body}`;
  return until(
    async () => {
      last = await ask();
      return last.status === status && last;
    },
    withinMs,
    message,
  );
}

function mount(folder: string, options: string): void {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { encoding: 'utf8' });
  assert.equal(status, 0, `mount: ${stderr}`);
}

function whyNot(): string | undefined {
  const isRoot = process.platform === 'linux' && process.getuid?.() === 0;
  if (!isRoot || spawnSync('unshare', ['-m', 'true']).status !== 0) return 'only root on Linux can mount a small disk';
  return undefined;
}
