// Writers that remember what was acknowledged, and the comparison with what is stored.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { createOver } from '../testing/request.ts';
import { query } from '../testing/server.ts';

export interface Ledger {
  /** Names by id. */
  acknowledged: Map<bigint, string>;
  /** Each connection creates plants until an answer is another than 200; gives these last answers. */
  write(server: { port: number; secret: string }, options: { connections: number }): Promise<(number | string)[]>;
  /** Ends when something more is acknowledged. */
  grows(): Promise<void>;
}

export function createLedger(): Ledger {
  const acknowledged = new Map<bigint, string>();
  const growth = new EventTarget();
  let nextId = 0n;

  return {
    acknowledged,
    async write(server, { connections }) {
      const agent = new Agent({ keepAlive: true, maxSockets: connections });
      const last = await Promise.all(
        Array.from({ length: connections }, async () => {
          for (;;) {
            const id = nextId++;
            const name = `Plant number ${id}`;
            const answer = await createOver(agent, server, { id, name });
            if (answer !== 200) return answer;
            acknowledged.set(id, name);
            growth.dispatchEvent(new Event('more'));
          }
        }),
      );
      agent.destroy();
      return last;
    },
    async grows() {
      const signal = AbortSignal.timeout(20_000);
      await once(growth, 'more', { signal }).catch(() => assert.fail('nothing was acknowledged in 20 s'));
    },
  };
}

/** Of SQLite: everything acknowledged is stored as it was sent, logged once, and found by a search. */
export function assertKept({ acknowledged }: Ledger, databasePath: string): void {
  const stored = new Map(query(databasePath, 'SELECT id, name FROM plants').map(({ id, name }) => [id, name]));
  const lost = [...acknowledged].filter(([id, name]) => stored.get(id) !== name);
  assert.equal(
    lost.length,
    0,
    `${lost.length} of ${acknowledged.size} were acknowledged, and lost: ${lost.slice(0, 3)}`,
  );
  const unmatched = query(databasePath, UNMATCHED);
  assert.equal(unmatched.length, 0, `${unmatched.length} records without event, or events without record`);
  const [{ indexed } = {}] = query(databasePath, INDEXED);
  assert.equal(indexed, BigInt(stored.size), 'a record that a search does not find, or the other way round');
  assert.deepEqual(query(databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
}

const INDEXED = `SELECT count(*) AS indexed FROM words JOIN plants ON plants.id = words.rowid WHERE words MATCH '"plant" AND "number"'`;
const UNMATCHED = `
  SELECT p.id, c.seq FROM plants p FULL JOIN changes c ON c.plant_id = p.id AND c.seq = p.seq AND c.name = p.name
  WHERE p.id IS NULL OR c.seq IS NULL`;
