// A shared database: another role with CREATE on the schema plants functions, operators and tables. Database and role
// settings are unusual, or give less durability than the server promises.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewPlant } from '../../src/domain/plant.ts';
import { printJson } from '../../src/lib/exact-json.ts';
import { queryPostgres, type TestPostgres } from '../../testing/postgres.ts';
import { type Receiver, startReceiver } from '../../testing/receiver.ts';
import { callerOf, importFile, post } from '../../testing/request.ts';
import { besideServer, makeFolder, type TestServer } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';
import { listRan, plant } from '../hostile-database.ts';
import { sharePostgres, waitForStandby, whyNoPostgres } from '../on-postgres.ts';
import { runBuild, runCommand } from '../run-build.ts';

/** Non-default values that an operator, a tool or a provider may have set. */
const ODD_SETTINGS: Record<string, string> = {
  search_path: 'public, pg_catalog', // planted objects come first
  array_nulls: 'off',
  synchronous_commit: 'local', // equals "on" without a standby
  default_transaction_read_only: 'on',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  statement_timeout: '2s',
  lock_timeout: '1ms',
  idle_in_transaction_session_timeout: '2s',
  standard_conforming_strings: 'off',
  backslash_quote: 'off',
  transform_null_equals: 'on',
  client_encoding: 'LATIN1',
  client_min_messages: 'error',
  DateStyle: 'SQL, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Pacific/Kiritimati',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  quote_all_identifiers: 'on',
  row_security: 'off',
  restrict_nonsystem_relation_kind: 'view, foreign-table',
  'plpgsql.variable_conflict': 'error',
  'plpgsql.extra_errors': 'all',
  plan_cache_mode: 'force_generic_plan',
  debug_parallel_query: 'regress',
  jit_above_cost: '0',
  work_mem: '64kB',
  from_collapse_limit: '1',
  join_collapse_limit: '1',
  enable_seqscan: 'off',
  enable_indexscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_hashagg: 'off',
  enable_sort: 'off',
};

/** Settings that break stored data or durability, so the server must refuse to start. */
const REFUSED_SETTINGS: [setting: string, value: string, says: RegExp][] = [
  ['synchronous_commit', 'off', /synchronous_commit\b.*\boff\b/],
  ['session_replication_role', 'replica', /session_replication_role\b.*\borigin\b/],
  ['exit_on_error', 'on', /exit_on_error\b.*\boff\b/],
];
const TOO_WEAK = ['local', 'remote_write'];

const PLANTED_OBJECTS = {
  'a table': 'CREATE TABLE tokens (id text)',
  'a view': `CREATE VIEW plant_store_schema AS SELECT 1 AS version`,
  'a function': `CREATE FUNCTION note_database_1() RETURNS void LANGUAGE sql AS ''`,
};

const ACKNOWLEDGED_TOO_SOON_MS = 500;
/** Time for the node to notice that its connections are closed. */
const RECONNECTED_WITHIN_MS = 200;
const LISTENS_WITHIN_MS = 5000;

const ownPostgres = sharePostgres('CREATE ROLE plants LOGIN; CREATE ROLE gardener LOGIN');
let databases = 0;

fault({
  name: 'hostile database',
  mark: 'No planted object runs with the rights of the service. Every record is stored as sent. The server refuses to start with weaker durability than it promises.',
  rounds: { short: 1, full: 8, of: 'databases: one with all unusual settings, others with a random half of them' },
  skip: whyNoPostgres,
  async trial(trial) {
    const postgres = await ownPostgres();
    const names = Object.keys(ODD_SETTINGS);
    let planted = 0;
    for (let round = 0; round < trial.rounds; round++) {
      const database = await makeSharedDatabase(
        postgres,
        names.filter(() => round === 0 || trial.random.below(2) === 0),
      );
      planted += await useEverything(trial, database);
    }
    for (const [what, sql] of someOf(trial, Object.entries(PLANTED_OBJECTS))) {
      const { url, gardener } = await makeSharedDatabase(postgres, []);
      await queryPostgres(gardener, sql);
      await refuses(trial, url, /\bgardener\b/, `${what} that another role planted`);
    }
    for (const [setting, value, says] of someOf(trial, REFUSED_SETTINGS)) {
      const { url, admin } = await makeSharedDatabase(postgres, []);
      await queryPostgres(admin, `ALTER DATABASE ${databaseOf(url)} SET ${setting} = '${value}'`);
      await refuses(trial, url, says, `${setting} = ${value}`);
    }
    await wantsStandby(trial, postgres);
    return `${trial.rounds} databases, ${planted.toLocaleString('en')} functions and operators planted, none ran`;
  },
  controls: {
    'does not set the search path for reads': {
      change: [
        'src/storage/postgres/transaction.ts',
        `READ ONLY; SET LOCAL search_path = \${SEARCH_PATH};`,
        'READ ONLY;',
      ],
      caught: /planted .* ran as plants/,
    },
    'does not set the search path for writes': {
      change: [
        'src/storage/postgres/transaction.ts',
        `SET TRANSACTION READ WRITE; SET LOCAL search_path = \${SEARCH_PATH};`,
        'SET TRANSACTION READ WRITE;',
      ],
      caught: /planted .* ran as plants/,
    },
    "includes the store's schema in its functions' search path": {
      change: [
        'src/storage/postgres/migrations/0010_timeline.sql',
        'LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp SET',
        'LANGUAGE plpgsql SET search_path = pg_catalog, %1$I SET',
      ],
      caught: /planted .* ran as plants/,
    },
    'does not cast its function arguments': {
      change: ['src/storage/postgres/qualified-names.ts', `::\${type}`, ''],
      // PostgreSQL chooses the planted function, but fails before it runs: it reads binary arrays as text.
      caught: /planted .* ran as plants|"error":50000/,
    },
    'resolves pg_backend_pid through the search path': {
      change: ['src/storage/postgres/change-notify.ts', 'pg_catalog.pg_backend_pid', 'pg_backend_pid'],
      caught: /isListening/,
    },
    'resolves to_regclass through the search path': {
      change: ['src/storage/postgres/database-checks.ts', "pg_catalog.to_regclass('plant", "to_regclass('plant"],
      caught: /planted .* ran as plants/,
    },
    'does not set array_nulls': {
      change: ['src/storage/postgres/transaction.ts', ' SET LOCAL array_nulls = on;', ''],
      caught: /the stored plants differ from those sent|migrate exited with status 1|"error":40009/,
    },
    'does not set transactions to READ WRITE': {
      change: ['src/storage/postgres/transaction.ts', ' SET TRANSACTION READ WRITE;', ''],
      caught: /read-only transaction/,
    },
    'uses tables and functions of other roles': {
      change: ['src/storage/postgres/database-checks.ts', 'if (!foreign) return;', 'if (!foreign || foreign) return;'],
      caught:
        /that another role planted: the server did not refuse to start|that another role planted: .* already exists/,
    },
    'accepts weaker durability than a standby requires': {
      change: ['src/storage/postgres/database-checks.ts', "if (standbys !== '' && ", "if (standbys === '-' && "],
      caught: /synchronous_commit = local with a standby: the server did not refuse to start/,
    },
    'commits with the synchronous_commit of the database and role': {
      change: ['src/storage/postgres/transaction.ts', ` SET LOCAL synchronous_commit = \${synchronousCommit};`, ''],
      caught: /acknowledged with \d+ before a standby had it/,
    },
    'starts where foreign keys are not enforced': {
      change: ['src/storage/postgres/database-checks.ts', "replication_role !== 'origin' || ", ''],
      caught: /session_replication_role = replica: the server did not refuse to start/,
    },
  },
});

/** Returns all items in the full form, and one of them in the short form, which has only seconds. */
function someOf<T>({ isFull, random }: Trial, all: T[]): T[] {
  return isFull ? all : [random.pick(all)];
}

interface SharedDatabase {
  /** URL for the role of the service, which owns the database. */
  url: string;
  /** URL for a role that may create objects in its schema. */
  gardener: string;
  /** URL for the superuser. */
  admin: string;
}

async function makeSharedDatabase({ url, port }: TestPostgres, oddSettings: string[]): Promise<SharedDatabase> {
  const name = `garden_${databases++}`;
  const as = (role: string) => `postgres://${role}@127.0.0.1:${port}/${name}`;
  await queryPostgres(url, `CREATE DATABASE ${name} OWNER plants TEMPLATE template0`);
  const own = { url: as('plants'), gardener: as('gardener'), admin: as('postgres') };
  await queryPostgres(own.admin, 'GRANT CREATE ON SCHEMA public TO gardener');
  const known = await queryPostgres(url, 'SELECT name FROM pg_settings');
  for (const setting of oddSettings) {
    if (!setting.includes('.') && !known.some(({ name }) => name === setting)) continue; // unknown in this PostgreSQL version
    const value = setting === 'search_path' ? ODD_SETTINGS[setting] : `'${ODD_SETTINGS[setting]}'`;
    await queryPostgres(own.admin, `ALTER ROLE plants IN DATABASE ${name} SET ${setting} = ${value}`);
  }
  return own;
}

/** Uses every command and endpoint. Returns the number of planted functions and operators. */
async function useEverything(trial: Trial, { url, gardener, admin }: SharedDatabase): Promise<number> {
  let planted = await plant(gardener);
  const from = `sqlite:${makeFolder()}/plants.db`;
  await besideServer(from, async (store) => {
    await store.import(SENT.slice(0, 2), { tokenId: 'cli' });
  });
  await command(trial, url, ['migrate', '--from', from, '--to', url]);
  planted += await plant(gardener, 'functions'); // for the tables' row types, and next to the store's own functions
  const scopes = 'plants:read,plants:write,admin';
  const secret = (await command(trial, url, ['token', 'create', '--name', 'x', '--scopes', scopes])).trim();
  const server = await trial.startServer({
    databaseUrl: url,
    token: { secret, id: '' },
    env: { WEBHOOK_ALLOW_PRIVATE: '1' },
  });
  const receiver = await startReceiver();
  try {
    await useApi(server, receiver);
    await command(trial, url, ['changes', 'prune', '--older-than', '1s']);
    await until(() => isListening(admin), LISTENS_WITHIN_MS);
    const ran = await listRan(admin);
    assert.deepEqual(ran, [], ran.join(', '));
    assert.doesNotMatch(server.output(), /planted/);
  } catch (error) {
    const ran = [...(await listRan(admin)), ...(server.output().match(/planted [^"]* ran as \w+/g) ?? [])];
    throw ran.length === 0 ? error : new assert.AssertionError({ message: `${ran.join(', ')}: ${error}` });
  } finally {
    await server.kill();
    await receiver.close();
  }
  const stored = await queryPostgres(admin, 'SELECT id, name, tag FROM plants ORDER BY id');
  const sent = SENT.map(({ id, name, tag }) => ({ id, name, tag: tag ?? null }));
  assert.deepEqual(stored, sent, 'the stored plants differ from those sent');
  return planted;
}

/** The trial copies the first two from SQLite, imports the next two, and creates the others. */
const SENT: NewPlant[] = [
  { id: 1n, name: 'Ficus' },
  { id: 2n, name: 'Été\\"', tag: 'NULL' },
  { id: 3n, name: 'NULL' },
  { id: 4n, name: 'Palme', tag: '{}' },
  { id: 5n, name: 'Monstera deliciosa' },
  { id: 6n, name: '\u0416'.repeat(3000), tag: 'NULL' },
];

async function useApi(server: TestServer, receiver: Receiver): Promise<void> {
  const call = callerOf(server, server.secret);
  const expect = async (status: number, method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await call(method, path, body);
    assert.equal(answer.status, status, `${method} ${path}: ${answer.status} ${answer.body}`);
    return answer.body;
  };
  const find = async (path: string): Promise<number[]> =>
    (JSON.parse(await expect(200, 'GET', path)) as { id: number }[]).map(({ id }) => id);
  const events = ['plant.created', 'plant.updated', 'plant.deleted'];
  const hook = JSON.parse(await expect(201, 'POST', '/webhooks', { url: receiver.url, events }));

  const lines = SENT.slice(2, 4).map((plant) => printJson(plant));
  const imported = await importFile(server, 'application/x-ndjson', lines.join('\n'));
  assert.equal(JSON.parse(imported.body).created, 2, imported.body);
  for (const plant of SENT.slice(4)) await expect(200, 'POST', '/plants', printJson(plant));
  for (const plant of SENT) await expect(200, 'POST', '/plants', printJson(plant)); // replays
  await expect(400, 'POST', '/plants', '{"id":1,"name":"another"}');
  await expect(200, 'PUT', '/plants/9', { name: 'Acer', tag: 'tree' });
  await expect(200, 'PATCH', '/plants/9', { tag: null });
  await Promise.all(
    Array.from({ length: 8 }, (_, n) => expect(200, 'PUT', `/plants/${20 + n}`, { name: `many ${n}` })),
  );
  for (const id of [9, 20, 21, 22, 23, 24, 25, 26, 27]) await expect(204, 'DELETE', `/plants/${id}`);

  const all = SENT.map(({ id }) => Number(id));
  assert.deepEqual(await find('/plants'), all);
  assert.deepEqual(await find('/plants?tag=NULL'), [2, 6]);
  assert.deepEqual(await find('/plants?q=mon+del'), [5]);
  assert.deepEqual(await find('/plants?q=ete&tag=NULL'), [2]);
  assert.equal((await expect(200, 'GET', '/plants/export')).trim().split('\n').length, all.length);
  const { plants, untagged, tags } = JSON.parse(await expect(200, 'GET', '/plants/summary'));
  assert.deepEqual(
    { plants, untagged, tags },
    { plants: 6, untagged: 3, tags: [{ tag: 'NULL', plants: 2 }, { tag: '{}', plants: 1 }] }, // biome-ignore format: short
  );
  await expect(200, 'GET', '/plants/5');
  const changes: { seq: number }[] = JSON.parse(await expect(200, 'GET', '/events?limit=1000'));
  await receiver.count(changes.length - 2);

  const of = `/webhooks/${hook.id}`;
  await expect(200, 'GET', '/webhooks');
  const newest = changes.at(-1)?.seq;
  await until(async () => {
    const deliveries: { seq: number; status: string }[] = JSON.parse(await expect(200, 'GET', `${of}/deliveries`));
    return deliveries.some(({ seq, status }) => seq === newest && status === 'delivered');
  });
  await expect(202, 'POST', `${of}/deliveries/${newest}/retry`);
  await expect(202, 'POST', `${of}/replay`, { from: newest });
  await expect(200, 'POST', `${of}/rotate`);
  await expect(200, 'POST', `${of}/enable`);
  await expect(204, 'DELETE', of);

  const token = JSON.parse(await expect(201, 'POST', '/tokens', { name: 'other', scopes: ['admin'] }));
  await expect(200, 'POST', `/tokens/${token.id}/rotate`, { grace: '1h' });
  await expect(200, 'GET', '/tokens');
  await expect(204, 'DELETE', `/tokens/${token.id}`);
  await expect(200, 'GET', '/metrics');
  await expect(200, 'GET', '/readyz');
}

/**
 * True if the node listens for changes. If it cannot, it reconnects often, and its sessions end before listRan() sees
 * their locks.
 */
async function isListening(admin: string): Promise<boolean> {
  const sessions = `SELECT FROM pg_stat_activity WHERE usename = 'plants' AND query LIKE 'LISTEN %'`;
  return (await queryPostgres(admin, sessions)).length > 0;
}

function command({ launcher }: Trial, databaseUrl: string, args: string[]): Promise<string> {
  return runCommand(launcher, args, { DATABASE_URL: databaseUrl });
}

async function refuses({ launcher }: Trial, databaseUrl: string, says: RegExp, what: string): Promise<void> {
  const { status, stderr } = await runBuild(launcher, ['serve'], { env: { DATABASE_URL: databaseUrl } });
  assert.notEqual(status, null, `${what}: the server did not refuse to start`);
  assert.match(stderr, says, `${what}: ${stderr}`);
  assert.match(stderr, /^plant-store: .*\n$/);
  assert.equal(status, 1);
}

/** With a required standby, the server must refuse weaker settings at start, and ignore a later change of settings. */
async function wantsStandby(trial: Trial, postgres: TestPostgres): Promise<void> {
  const { url, admin } = await makeSharedDatabase(postgres, []);
  const set = (value: string) =>
    queryPostgres(
      admin,
      `SET synchronous_commit = local; ALTER ROLE plants IN DATABASE ${databaseOf(url)} SET synchronous_commit = ${value}`,
    );
  const server = await trial.startServer({ databaseUrl: url });
  try {
    await waitForStandby(postgres, 'nobody');
    for (const value of someOf(trial, TOO_WEAK)) {
      await set(value);
      const says = new RegExp(`synchronous_commit\\b.*\\b${value}\\b`);
      await refuses(trial, url, says, `synchronous_commit = ${value} with a standby`);
    }
    await set('local'); // for new sessions of the running node
    await queryPostgres(admin, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'plants'`);
    await sleep(RECONNECTED_WITHIN_MS);
    const answered = post(server, '{"id":1,"name":"Ficus"}');
    const soon = await Promise.race([answered, sleep(ACKNOWLEDGED_TOO_SOON_MS)]);
    assert.equal(soon, undefined, `acknowledged with ${soon?.status} before a standby had it`);
    await waitForStandby(postgres, '');
    assert.equal((await answered).status, 200);
  } finally {
    await waitForStandby(postgres, '');
    await server.kill();
  }
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
