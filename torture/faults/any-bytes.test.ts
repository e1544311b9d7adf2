// Any bytes at all, where a body, a path, a query or a header should be: requests made from the OpenAPI description,
// valid ones and nearly valid ones, bodies that nobody should send, and requests with damaged heads.

import assert from 'node:assert/strict';
import { createCheck, readDescription } from '../../testing/description.ts';
import { isPostgresHere, makeDatabase } from '../../testing/postgres.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { addAdmin, query, type ServerOptions } from '../../testing/server.ts';
import { fault, type Trial } from '../fault.ts';
import { sendBodies } from '../fuzz/bodies.ts';
import { fuzz, sample } from '../fuzz/fuzz.ts';
import { sendHeads } from '../fuzz/heads.ts';
import { requestsOf } from '../fuzz/requests.ts';

const CONNECTIONS = 12;
/** Of all requests. */
const BODIES = 0.3;
const HEADS = 0.03;
const IN_STEP = 0.2;
/** What a replay can begin with. */
const FIRST_PLANTS = 3;

fault({
  name: 'any bytes at all',
  mark: '0 × 5xx, 0 statuses or shapes that the description does not name, no request refused that is as it says, nothing stored but what fits, both databases answer alike',
  rounds: { short: 10_000, full: 100_000, of: 'requests' },
  async trial(trial) {
    const { rounds, isFull, seed } = trial;
    const receiver = await startReceiver(({ url = '' }, response) => {
      response.writeHead(url.startsWith('/gone') ? 410 : url.startsWith('/takes') ? 200 : 500).end();
    });
    const server = await start(trial);
    const description = await readDescription(server.port);
    const check = await createCheck(server.port);
    const requests = (count: number) => sample(requestsOf(description, { receiverUrl: receiver.url }), count, seed);

    const [bodies, heads] = [Math.ceil(rounds * BODIES), Math.ceil(rounds * HEADS)];
    const count = rounds - bodies - heads;
    const statuses = await fuzz({ servers: [server], check, requests: requests(count), connections: CONNECTIONS });
    await sendHeads(
      server,
      check,
      sample(requestsOf(description, { receiverUrl: receiver.url }), heads, seed + 1),
      seed,
    );
    const stored = await sendBodies(server, check, bodies, seed);
    requireOrder(server);
    const seen = [`${statuses}; ${stored.toLocaleString('en')} plants stored as they were sent`];

    if (isFull && isPostgresHere()) {
      const other = await start(trial, { databaseUrl: await makeDatabase() });
      await fuzz({ servers: [other], check, requests: requests(count), connections: CONNECTIONS });
      const twins = [await start(trial), await start(trial, { databaseUrl: await makeDatabase() })];
      const inStep = Math.ceil(rounds * IN_STEP);
      await fuzz({ servers: twins, check, requests: requests(inStep), connections: 1 });
      seen.push(`PostgreSQL as well, and ${inStep.toLocaleString('en')} in step, answered alike`);
      for (const one of [other, ...twins]) await requireAlive(one);
    } else if (isFull) seen.push('PostgreSQL NOT TRIED: it is not here');
    await requireAlive(server);
    return seen.join('; ');
  },
  controls: {
    'one that stores U+0000': {
      change: ['src/domain/plant.ts', `text.includes('\\0') ? 'U+0000' : `, ''],
      caught: /accepted, although it does not fit/,
      rounds: 1500,
    },
    'one with a member in its answer that the description does not name': {
      change: ['src/http/routes/plants.ts', 'return { name, tag };', 'return { id, name, tag };'],
      caught: /must NOT have additional properties/,
      rounds: 1500,
    },
    'one whose description does not say how large the number of a change can be': {
      change: ['src/http/core/parameters.ts', ', maximum: Number.MAX_SAFE_INTEGER }', ' }'],
      caught: /a request as the description wants it was refused/,
      rounds: 1500,
    },
    'one that stores lone surrogates as something else': {
      change: ['src/domain/plant.ts', `text.isWellFormed() ? undefined : 'a lone surrogate'`, 'undefined'],
      caught: /accepted, although it does not fit/,
      rounds: 5000,
    },
    'one that does not look at percent signs': {
      change: [
        'src/http/core/parameters.ts',
        `    throw malformed(\`"\${name}"\`, 'percent-encoded UTF-8');`,
        `    throw new URIError('malformed');`,
      ],
      caught: /a 500/,
      rounds: 5000,
    },
    'one whose description does not name a status': {
      change: [
        'src/http/routes/plants.ts',
        `'The plant is deleted' },\n      errors: ['not_found', 'condition_failed'],`,
        `'The plant is deleted' },\n      errors: ['not_found'],`,
      ],
      caught: /does not name 412/,
      rounds: 5000,
    },
    'one that does not count bad lines': {
      change: ['src/files/import-plants.ts', '    counts.failed += failed.length;\n', ''],
      caught: /the counts of an import do not add up/,
      rounds: 5000,
    },
    'one whose next page leaves plants out on PostgreSQL': {
      change: [
        'src/storage/postgres/plants-read.ts',
        ': readCursor(cursor, filter);',
        ': readCursor(cursor, filter) | 255n;',
      ],
      caught: /strictly deep-equal/,
      rounds: 10_000,
    },
  },
});

type Server = Awaited<ReturnType<typeof start>>;

async function start({ startServer }: Trial, options: ServerOptions = {}) {
  const server = await startServer({ ...options, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const { secret, call } = await addAdmin(server);
  for (let id = 0; id < FIRST_PLANTS; id++) await call('POST', '/plants', { id, name: 'Acer' });
  return { ...server, secret, call };
}

/** Of SQLite: every plant has its change, and a search finds it. */
function requireOrder({ databasePath }: Server): void {
  const [counts] = query(
    databasePath,
    `SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM plants JOIN changes USING (seq)) AS logged,
      (SELECT count(*) FROM words WHERE words MATCH '"acer"') AS indexed,
      (SELECT count(*) FROM plants WHERE lower(name) = 'acer') AS named`,
  );
  assert.equal(counts?.plants, counts?.logged, 'plants without their change');
  assert.equal(counts?.indexed, counts?.named, 'plants that a search does not find');
  assert.deepEqual(query(databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
}

async function requireAlive(server: Server): Promise<void> {
  assert.equal((await server.call('GET', '/tokens/self')).status, 200);
  assert.ok(!server.output().includes('"kind":"bug"'), `it has logged a bug: ${server.output().slice(-2000)}`);
  assert.equal(await server.stop(), 0);
}
