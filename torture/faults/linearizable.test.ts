// Several clients create, read, replace and delete the same records while the server is killed. Their observations of
// each record must fit one order. It runs on SQLite, and on PostgreSQL with two nodes of which one is killed.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isPostgresHere, makeDatabase } from '../../testing/postgres.ts';
import { makeFolder, type ServerOptions, type TestServer } from '../../testing/server.ts';
import { fault, type Trial } from '../fault.ts';
import { isLinearizable } from '../history.ts';
import { createRecorder } from '../recorder.ts';
import { ANSWERS_FIRST } from '../safeguards.ts';

const KEYS_OF_A_ROUND = 100;
/** Few concurrent ids keep calls short. Shorter calls overlap less, so fewer orders can explain the observations. */
const KEYS_AT_ONCE = 12;
const CLIENTS = 3;
const [BEFORE_THE_RESTART, AFTER_THE_RESTART] = [5, 2];
const KILLED_WITHIN_MS = 400;

fault({
  name: 'linearizable per id',
  mark: 'Some sequential order explains the observed history of every id.',
  rounds: { short: 400, full: 10_000, of: 'ids while servers are killed' },
  async trial(trial) {
    const isBoth = isPostgresHere();
    const keys = isBoth ? trial.rounds / 2 : trial.rounds;
    const seen = [await onSqlite(trial, keys)];
    if (isBoth) seen.push(await onPostgres(trial, keys));
    return seen.join('; ');
  },
  controls: {
    'returns stale reads: caches each read for 50 ms': {
      change: [
        'src/storage/sqlite/store.ts',
        'return readAsync(() => readBatcher(() => reads.get(id)));',
        `const kept = ((globalThis as any).kept ??= new Map());
            const old = kept.get(id);
            if (old && performance.now() - old.atMs < 50) return old.answer;
            const answer = readAsync(() => readBatcher(() => reads.get(id)));
            kept.set(id, { answer, atMs: performance.now() });
            return answer;`,
      ],
      caught: /no order explains the history/,
      inShort: true,
    },
    'responds 20 ms before it commits': {
      changes: ANSWERS_FIRST,
      caught: /no order explains the history/,
    },
  },
});

async function onSqlite({ random, startServer }: Trial, keys: number): Promise<string> {
  const where = { folder: makeFolder() };
  const one = await startServer(where);
  return record([one], keys, { where, random, startServer }, 'SQLite');
}

async function onPostgres({ random, startServer }: Trial, keys: number): Promise<string> {
  const where = { databaseUrl: await makeDatabase() };
  const nodes = [await startServer(where), await startServer(where)];
  return record(nodes, keys, { where, random, startServer }, 'two nodes on PostgreSQL');
}

/** Records and checks histories. Each round kills and restarts the first server. */
async function record(
  servers: TestServer[],
  keys: number,
  { where, random, startServer }: Pick<Trial, 'random' | 'startServer'> & { where: ServerOptions },
  title: string,
): Promise<string> {
  let [checked, operations, unknown] = [0, 0, 0];
  for (let first = 0; first < keys; first += KEYS_OF_A_ROUND) {
    const recorder = createRecorder(random);
    const ids = Array.from({ length: KEYS_OF_A_ROUND }, (_, n) => first + n);
    const operate = async (count: number) => {
      const left = ids.values();
      const each = async (id: number) => {
        const clients = Array.from({ length: CLIENTS }, async (_, client) => {
          const server = servers[client % servers.length] as TestServer;
          for (let n = 0; n < count; n++) await recorder.operate(server, id);
        });
        await Promise.all(clients);
      };
      const lanes = Array.from({ length: KEYS_AT_ONCE }, async () => {
        for (const id of left) await each(id);
      });
      await Promise.all(lanes);
    };
    const writing = operate(BEFORE_THE_RESTART);
    await sleep(random.below(KILLED_WITHIN_MS));
    await servers[0]?.kill();
    await writing;
    servers[0] = await startServer(where);
    await operate(AFTER_THE_RESTART);
    await Promise.all(ids.map((id) => recorder.read(servers.at(-1) as TestServer, id)));
    recorder.close();

    for (const [id, history] of recorder.histories) {
      assert.ok(isLinearizable(history), `plant ${id}, ${title}: no order explains the history: ${print(history)}`);
      checked++;
      operations += history.length;
      unknown += history.filter(({ outcome }) => outcome === 'unknown').length;
    }
  }
  for (const server of servers) await server.kill();
  const numbers = [checked, operations, unknown].map((count) => count.toLocaleString('en'));
  return `${title}: ${numbers[0]} ids, ${numbers[1]} operations, ${numbers[2]} interrupted, 0 violations`;
}

function print(history: object[]): string {
  return `\n${history.map((event) => JSON.stringify(event)).join('\n')}`;
}
