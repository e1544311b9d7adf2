// Sends arbitrary bodies to POST /plants. The server must store valid plants unchanged, and nothing else.

import assert from 'node:assert/strict';
import type { CheckAnswer } from '../../testing/description.ts';
import { query } from '../../testing/server.ts';
import { sample } from './fuzz.ts';
import { createGiven, toBytes } from './planned-request.ts';
import { plantBodies } from './plant-bodies.ts';
import { createWire } from './wire.ts';

const CONNECTIONS = 12;
const HEADERS: [string, string][] = [
  ['Authorization', 'Bearer @secret'],
  ['Content-Type', 'application/json'],
];

interface Server {
  port: number;
  secret: string;
  databasePath: string;
}

/** Sends the bodies, and returns the number of stored plants. */
export async function sendBodies(server: Server, check: CheckAnswer, count: number, seed: number): Promise<number> {
  const before = readPlants(server);
  const changes = countChanges(server);
  const expected = new Map(before);
  const given = createGiven(server.secret);
  const left = sample(plantBodies, count, seed);

  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const wire = createWire(server.port);
      for (const { body, plant } of left) {
        const request = { isValid: false, method: 'POST', target: '/plants', headers: HEADERS, body };
        const answer = await wire.ask(toBytes(request, given));
        const shown = `${answer.status} ${answer.body} to ${JSON.stringify(Buffer.from(body).toString())}`;
        check('POST', '/plants', answer);
        assert.ok([200, 400].includes(answer.status), shown);
        if (answer.status === 200) note(plant, answer.headers.location as string, answer.body, shown);
        else assert.ok(!plant || JSON.parse(answer.body).error === 40009, `rejected a valid plant: ${shown}`);
      }
      wire.close();
    }),
  );

  const stored = readPlants(server);
  const wrong = [...expected].filter(([id, plant]) => stored.get(id) !== plant);
  assert.equal(wrong.length, 0, `${wrong.length} plants differ from those sent: ${wrong[0]}`);
  assert.equal(stored.size, expected.size, 'a plant was stored that no client sent');
  assert.equal(countChanges(server) - changes, BigInt(stored.size - before.size), 'a rejected body caused a change');
  return stored.size - before.size;

  function note(plant: unknown, location: string, body: string, shown: string): void {
    assert.notEqual(plant, undefined, `accepted an invalid plant: ${shown}`);
    const { name, tag = null } = JSON.parse(body) as { name: string; tag?: string };
    const id = location.replace('/plants/', '');
    const text = JSON.stringify([name, tag]);
    if (plant !== null) {
      const sent = plant as { id: bigint; name: string; tag: string | null };
      assert.deepEqual(
        [id, text],
        [`${sent.id}`, JSON.stringify([sent.name, sent.tag])],
        `the response differs from the request: ${shown}`,
      );
    }
    expected.set(id, text);
  }
}

function readPlants({ databasePath }: Server): Map<string, string> {
  const rows = query(databasePath, 'SELECT id, name, tag FROM plants');
  return new Map(rows.map(({ id, name, tag }) => [`${id}`, JSON.stringify([name, tag])]));
}

function countChanges({ databasePath }: Server): bigint {
  return query(databasePath, 'SELECT count(*) AS count FROM changes')[0]?.count as bigint;
}
