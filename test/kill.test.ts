// kill -9 at a random moment while 64 connections write: what was acknowledged is there after a restart, and every
// record has its change. (A kill does not test fsync, the page cache survives it: disk.test.ts does.)

import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { createOver } from './request.ts';
import { makeFolder, query, startServer } from './server.ts';

const ROUNDS = Number(process.env.KILL_ROUNDS ?? 8);
const CONNECTIONS = 64;

test(`nothing acknowledged is lost in ${ROUNDS} kills`, { timeout: 60_000 + ROUNDS * 10_000 }, async (t) => {
  const folder = makeFolder();
  const acknowledged = new Map<bigint, string>();
  let nextId = 0n;

  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer({ folder });
    const first = Promise.withResolvers<void>();
    const killed = first.promise.then(() => setTimeout(Math.random() * 400)).then(() => server.kill());
    const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    await Promise.all(
      Array.from({ length: CONNECTIONS }, async () => {
        for (;;) {
          const id = nextId++;
          const name = `Plant ${id} of round ${round}`;
          if ((await createOver(agent, server, { id, name })) !== 200) return;
          acknowledged.set(id, name);
          first.resolve();
        }
      }),
    );
    await killed;

    const restarted = await startServer({ folder });
    const stored = new Map(
      query(restarted.databasePath, 'SELECT id, name FROM plants').map(({ id, name }) => [id, name]),
    );
    const lost = [...acknowledged].filter(([id, name]) => stored.get(id) !== name);
    assert.deepEqual(lost, []);
    assert.deepEqual(
      query(restarted.databasePath, UNMATCHED),
      [],
      'a record without its change, or the other way round',
    );
    const [{ indexed } = {}] = query(restarted.databasePath, INDEXED);
    assert.equal(indexed, BigInt(stored.size), 'a record that a search does not find, or the other way round');
    await restarted.kill();
  }

  const [check] = query(`${folder}/plants.db`, 'PRAGMA integrity_check');
  assert.deepEqual(check, { integrity_check: 'ok' });
  t.diagnostic(`${acknowledged.size} plants acknowledged in ${ROUNDS} rounds, all there`);
});

const INDEXED = `SELECT count(*) AS indexed FROM words JOIN plants ON plants.id = words.rowid WHERE words MATCH '"plant" AND "round"'`;
const UNMATCHED = `
  SELECT p.id, c.seq FROM plants p FULL JOIN changes c ON c.plant_id = p.id AND c.seq = p.seq AND c.name = p.name
  WHERE p.id IS NULL OR c.seq IS NULL`;
