// Checks of the command doctor on a PostgreSQL server and its database: connection, durability, schema and rights.

import type pg from 'pg';
import type { Config } from '../../config/config.ts';
import { docsPage } from '../../lib/docs-page.ts';
import { isLocalHost } from '../../lib/local-host.ts';
import { describeConnectionUrl } from '../../storage/postgres/connection-url.ts';
import { requireWhole } from '../../storage/postgres/database.ts';
import {
  findNames,
  requireOwn,
  requireSoundSettings,
  type SettingsRow,
} from '../../storage/postgres/database-checks.ts';
import { compareClocks, inRead, readNewestChange, readRights } from '../../storage/postgres/health.ts';
import type { Names } from '../../storage/postgres/qualified-names.ts';
import { SCHEMA_VERSION, schemaVersion } from '../../storage/postgres/schema.ts';
import { countOf } from '../terminal/report.ts';
import { type Check, type CheckResult, type Finding, ok, problem, runChecks, warning } from './finding.ts';
import { connectToCheck, disconnect, readState, type ServerState } from './postgres-connection.ts';
import { judgeClock } from './surroundings.ts';

/** Connections that a node opens beside its pool: one to listen, and one per export in progress. */
const BESIDE_POOL = 17;
const SEE_HA = `see ${docsPage('guides/high-availability.md')}`;

type PostgresDatabase = Config['database'] & { kind: 'postgres' };

interface CheckedDatabase extends ServerState {
  client: pg.Client;
  poolSize: number;
}

const CHECKS: Record<string, Check<CheckedDatabase>> = {
  encryption: checkEncryption,
  primary: checkPrimary,
  durability: checkDurability,
  replication: checkReplication,
  connections: checkConnections,
  schema: checkSchema,
  rights: checkRights,
  clock: checkClock,
};

export async function* checkPostgres({ url, poolSize }: PostgresDatabase): AsyncGenerator<CheckResult> {
  const client = await connectToCheck(url);
  try {
    const state = await readState(client, url);
    const through = state.connection.isPooled ? ', through a pooler' : '';
    yield { check: 'database', ...ok(`${describeConnectionUrl(url)}, PostgreSQL ${state.facts.version}${through}`) };
    yield* runChecks(CHECKS, { client, poolSize, ...state });
  } finally {
    await disconnect(client);
  }
}

function checkEncryption({ connection: { address, encryption } }: CheckedDatabase): Finding {
  if (encryption === 'verified') return ok('TLS, with a verified certificate');
  if (address === undefined) return ok('not needed: a Unix socket');
  if (isLocalHost(address)) return ok('not needed: the connection stays on this machine');
  const advice = 'Add ?sslmode=verify-full&sslrootcert=FILE to DATABASE_URL.';
  if (encryption === 'unverified') return warning('TLS, but the certificate of the server is not verified', advice);
  return warning('records and the password cross the network unencrypted', advice);
}

function checkPrimary({ facts: { isStandby } }: CheckedDatabase): Finding {
  if (!isStandby) return ok('the server is a primary');
  return problem(
    'the server is a standby, which accepts no writes',
    'Use the primary. With several hosts in DATABASE_URL, add ?target_session_attrs=read-write.',
  );
}

function checkDurability({ settings, facts }: CheckedDatabase): Finding {
  const { synchronousCommit } = requireSoundSettings(settings);
  if (!facts.fullPageWrites) {
    return warning(
      'full_page_writes is off, so a power cut can damage pages',
      'Set it to on, unless the file system writes pages atomically, as ZFS does.',
    );
  }
  return ok(`fsync and full_page_writes are on, nodes use synchronous_commit = ${synchronousCommit}`);
}

function checkReplication({ facts }: CheckedDatabase): Finding | undefined {
  const { isStandby, standbys, synchronousStandbyNames, synchronousStandbys, hidesStandbys, walLevel } = facts;
  if (isStandby) return undefined;
  if (synchronousStandbyNames !== '') {
    if (synchronousStandbys > 0)
      return ok(`${countOf(standbys, 'standby')}, ${synchronousStandbys} of them synchronous`);
    if (hidesStandbys) {
      return ok(
        `synchronous_standby_names is set, ${countOf(standbys, 'standby')} connected (their state is hidden from this role)`,
      );
    }
    return problem(
      `synchronous_standby_names is "${synchronousStandbyNames}", but no such standby is connected: every write waits`,
      `Start the standby, or correct the setting: ${SEE_HA}.`,
    );
  }
  if (standbys > 0) {
    return warning(
      'all standbys are asynchronous: a failover can lose acknowledged writes',
      `Set synchronous_standby_names: ${SEE_HA}.`,
    );
  }
  const level = walLevel === 'minimal' ? ' (wal_level is minimal)' : '';
  return warning(
    `no standby${level}: a lost disk loses all writes since the last backup`,
    `Add a synchronous standby (${SEE_HA}), or archive the WAL. Ignore this if your provider replicates the disk.`,
  );
}

function checkConnections({ poolSize, facts, connection }: CheckedDatabase): Finding | undefined {
  if (connection.isPooled) return undefined;
  const free = facts.maxConnections - facts.usedConnections;
  const needed = poolSize + BESIDE_POOL;
  const found = `${free} of ${facts.maxConnections} free, a node uses up to ${needed}`;
  if (free >= needed) return ok(found);
  return warning(
    found,
    'Raise max_connections in postgresql.conf, or lower DATABASE_POOL_SIZE, unless all nodes are already running.',
  );
}

async function checkSchema({ client, settings }: CheckedDatabase): Promise<Finding> {
  const version = await inRead(client, async () => {
    const names = await findNames(client, settings);
    const found = await schemaVersion(client, names);
    if (found > 0) await requireWhole(client, names);
    return found;
  });
  if (version === 0) {
    return warning(
      'the database has no tables of Plant Store',
      'The first node creates them. If a store exists already, correct DATABASE_URL.',
    );
  }
  if (version >= SCHEMA_VERSION) return ok(`version ${version}, current`);
  return warning(
    `version ${version}, and this version of Plant Store uses ${SCHEMA_VERSION}`,
    'Make a backup. The first node of the new version migrates the database.',
  );
}

async function checkRights({ client, settings }: CheckedDatabase): Promise<Finding> {
  const names = await findSchema(client, settings);
  const { role, canCreate, closedTables } = await readRights(client, names);
  const [closed] = closedTables;
  if (closed !== undefined) {
    return problem(
      `the role ${role} cannot read and write the table ${closed}`,
      'Log in as the owner of the tables, or let the owner grant all rights on them to this role.',
    );
  }
  await inRead(client, () => requireOwn(client, names));
  if (!canCreate) {
    const found = `the role ${role} cannot create tables in the schema ${names.schema}`;
    const advice = `Let the owner of the schema run: GRANT CREATE ON SCHEMA ${names.schema} TO ${role}.`;
    if (settings.schema_table === null) return problem(found, advice);
    return warning(`${found}, which an upgrade may need`, advice);
  }
  return ok(`the role ${role} can use and migrate the tables`);
}

async function checkClock({ client, settings }: CheckedDatabase): Promise<Finding> {
  const newestMs = await findSchema(client, settings)
    .then((names) => readNewestChange(client, names))
    .catch(() => undefined); // the checks of schema and rights report it
  return judgeClock(newestMs, await compareClocks(client));
}

function findSchema(client: pg.Client, settings: SettingsRow): Promise<Names> {
  return inRead(client, () => findNames(client, settings));
}
