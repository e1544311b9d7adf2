// Sends arbitrary bytes as body, path, query or header. The requests are generated from the OpenAPI description, valid
// and nearly valid. Others have invalid bodies or damaged heads.

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
/** Shares of all requests. */
const BODIES = 0.3;
const HEADS = 0.03;
const IN_STEP = 0.2;
/** Number of plants created first, so that a replay has a starting point. */
const FIRST_PLANTS = 3;

fault({
  name: 'any bytes in a request',
  mark: 'The server never returns 5xx, nor a status or body that the description does not define. It accepts every request that the description allows. It stores valid records only. Both databases give the same responses.',
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
    const seen = [`${statuses}; ${stored.toLocaleString('en')} plants stored unchanged`];

    if (isFull && isPostgresHere()) {
      const other = await start(trial, { databaseUrl: await makeDatabase() });
      await fuzz({ servers: [other], check, requests: requests(count), connections: CONNECTIONS });
      const twins = [await start(trial), await start(trial, { databaseUrl: await makeDatabase() })];
      const inStep = Math.ceil(rounds * IN_STEP);
      await fuzz({ servers: twins, check, requests: requests(inStep), connections: 1 });
      seen.push(`also on PostgreSQL; ${inStep.toLocaleString('en')} requests sent to both gave the same responses`);
      for (const one of [other, ...twins]) await requireAlive(one);
    } else if (isFull) seen.push('PostgreSQL SKIPPED: not available on this machine');
    await requireAlive(server);
    return seen.join('; ');
  },
  controls: {
    'stores U+0000': {
      change: ['src/domain/plant.ts', `text.includes('\\0') ? 'U+0000' : `, ''],
      caught: /accepted an invalid plant/,
      rounds: 1500,
    },
    'returns a field that the description does not define': {
      change: ['src/http/routes/plants.ts', 'return { name, tag };', 'return { id, name, tag };'],
      caught: /must NOT have additional properties/,
      rounds: 1500,
    },
    'omits the maximum change number from the description': {
      change: [
        'src/http/core/parameters.ts',
        ', maximum: Number.MAX_SAFE_INTEGER, examples: [1042]',
        ', examples: [1042]',
      ],
      caught: /rejected a request that the description allows/,
      rounds: 1500,
    },
    'replaces lone surrogates before it stores them': {
      change: ['src/domain/plant.ts', `text.isWellFormed() ? undefined : 'a lone surrogate'`, 'undefined'],
      caught: /accepted an invalid plant/,
      rounds: 5000,
    },
    'does not check percent encoding': {
      change: [
        'src/http/core/parameters.ts',
        `    throw malformed(\`"\${name}"\`, 'percent-encoded UTF-8');`,
        `    throw new URIError('malformed');`,
      ],
      caught: /a 500/,
      rounds: 5000,
    },
    'omits a status from the description': {
      change: [
        'src/http/routes/plants.ts',
        `'The plant is deleted' },\n      errors: ['not_found', 'condition_failed'],`,
        `'The plant is deleted' },\n      errors: ['not_found'],`,
      ],
      caught: /\b412\b/,
      rounds: 5000,
    },
    'does not count rejected import lines': {
      change: ['src/files/import-plants.ts', '    counts.failed += failed.length;\n', ''],
      caught: /the counts of an import do not add up/,
      rounds: 5000,
    },
    'omits plants from the next page on PostgreSQL': {
      change: ['src/storage/postgres/plants-read.ts', '? [start.id] :', '? [start.id | 255n] :'],
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

/** Checks on SQLite that every plant has its change, and that a search finds it. */
function requireOrder({ databasePath }: Server): void {
  const [counts] = query(
    databasePath,
    `SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM plants JOIN changes USING (seq)) AS logged,
      (SELECT count(*) FROM words WHERE words MATCH '"acer"') AS indexed,
      (SELECT count(*) FROM plants WHERE lower(name) = 'acer') AS named`,
  );
  assert.equal(counts?.plants, counts?.logged, 'a plant has no change');
  assert.equal(counts?.indexed, counts?.named, 'a search does not find every plant');
  assert.deepEqual(query(databasePath, 'PRAGMA integrity_check'), [{ integrity_check: 'ok' }]);
}

async function requireAlive(server: Server): Promise<void> {
  assert.equal((await server.call('GET', '/tokens/self')).status, 200);
  assert.doesNotMatch(server.output(), /"kind":"bug"/, `the server logged a bug: ${server.output().slice(-2000)}`);
  assert.equal(await server.stop(), 0);
}
