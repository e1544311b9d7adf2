// Writers that record every acknowledged plant, and checks that compare those plants with the database.

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { queryPostgres } from '../testing/postgres.ts';
import { createOver } from '../testing/request.ts';
import { query } from '../testing/server.ts';
import { until } from '../testing/until.ts';
import { Tally } from './tally.ts';

const RETRY_AFTER_MS = 100;
const UNMATCHED = `
  SELECT p.id, c.seq FROM plants p FULL JOIN changes c ON c.plant_id = p.id AND c.seq = p.seq AND c.name = p.name
  WHERE p.id IS NULL OR c.seq IS NULL`;
const INDEXED = `SELECT count(*) AS indexed FROM words JOIN plants ON plants.id = words.rowid WHERE words MATCH '"plant" AND "number"'`;

export interface WriteOptions {
  connections: number;
  /** If set, a writer retries after a 503, and ends when this signal is aborted. */
  untilAborted?: AbortSignal;
}

export class Ledger {
  /** Acknowledged names by id. */
  readonly acknowledged = new Map<bigint, string>();
  readonly answers = new Tally<number | string>();
  #nextId = 0n;

  /** Creates plants on each connection until a response is not 200. Returns the last outcome of each connection. */
  async write(server: { port: number; secret: string }, options: WriteOptions): Promise<(number | string)[]> {
    const { connections, untilAborted: signal } = options;
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const last = await Promise.all(
      Array.from({ length: connections }, async () => {
        for (;;) {
          const id = this.#nextId++;
          const name = `Plant number ${id}`;
          let answer: number | string;
          for (;;) {
            answer = await createOver(agent, server, { id, name });
            this.answers.add(answer);
            if (answer !== 503 || signal === undefined || signal.aborted) break;
            await sleep(RETRY_AFTER_MS);
          }
          if (answer === 200) this.acknowledged.set(id, name);
          if (signal ? signal.aborted : answer !== 200) return answer;
        }
      }),
    );
    agent.destroy();
    return last;
  }

  /** Waits until another record is acknowledged. */
  async grows(withinMs = 20_000): Promise<void> {
    const { size } = this.acknowledged;
    const message = () => `no write was acknowledged for ${withinMs / 1000} s`;
    await until(() => this.acknowledged.size > size, withinMs, message);
  }

  /** Checks on SQLite that each acknowledged record is stored unchanged, has one change, and is found by a search. */
  assertKept(databasePath: string): void {
    const rows = query(databasePath, 'SELECT id, name FROM plants');
    assertRows(this.acknowledged, rows, query(databasePath, UNMATCHED));
    const [{ indexed } = {}] = query(databasePath, INDEXED);
    assert.equal(indexed, BigInt(rows.length), 'the search index does not match the records');
    assert.deepEqual(query(databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
  }

  /** Checks on PostgreSQL that each acknowledged record is stored unchanged and has one change. */
  async assertKeptOnPostgres(url: string): Promise<void> {
    const acknowledged = new Map(this.acknowledged);
    const rows = await queryPostgres(url, 'SELECT id, name FROM plants');
    assertRows(acknowledged, rows, await queryPostgres(url, UNMATCHED));
  }
}

function assertRows(acknowledged: Map<bigint, string>, rows: Record<string, unknown>[], unmatched: unknown[]): void {
  const stored = new Map(rows.map(({ id, name }) => [id, name]));
  const lost = [...acknowledged].filter(([id, name]) => stored.get(id) !== name);
  const message = `${lost.length} of ${acknowledged.size} acknowledged records are lost: ${lost.slice(0, 3)}`;
  assert.equal(lost.length, 0, message);
  assert.equal(unmatched.length, 0, `${unmatched.length} records without a change, or changes without a record`);
}
