// Checks the database and migrates its schema when a node starts.

import pg from 'pg';
import { UserError } from '../../lib/user-error.ts';
import { connectClient } from './connect.ts';
import { describeConnectionUrl, parseConnectionUrl } from './connection-url.ts';
import { findNames, requireOwn, requireSound, type ServerPromises } from './database-checks.ts';
import type { Names } from './qualified-names.ts';
import { migrate, SCHEMA_VERSION, schemaVersion } from './schema.ts';
import { beginRead, beginWrite, noLimits } from './transaction.ts';

/** Value of `seq` in the table `copied` while a copy is in progress. */
export const COPY_IN_PROGRESS = -1n;

/** Properties of a checked database. */
export interface PreparedDatabase extends ServerPromises {
  names: Names;
}

/** Purpose of preparing a database: a server, a command on a store that exists, or a copy into the database. */
export type Purpose = 'server' | 'command' | 'copy';

/** Checks the database and migrates its schema. Throws UserError if the database cannot be used. */
export async function prepareDatabase(url: string, purpose: Purpose): Promise<PreparedDatabase> {
  const name = describeConnectionUrl(url);
  const client = await connect(url);
  try {
    const { version, synchronousCommit, ...found } = await requireSound(client);
    const limits = noLimits(version);
    const [read, write] = [beginRead(limits), beginWrite(limits, synchronousCommit)];
    const names = await inTransaction(client, read, () => findNames(client, found));
    const schema = await inTransaction(client, read, async () => {
      await requireOwn(client, names);
      return schemaVersion(client, names);
    });
    if (schema === 0 && purpose === 'command') {
      throw new UserError(
        `${name} has no store. Set DATABASE_URL to the database of your server, or create a store with "plant-store serve".`,
      );
    }
    if (schema < SCHEMA_VERSION) await inTransaction(client, write, () => migrate(client, names));
    const isKnown = await inTransaction(client, read, async () => {
      if (purpose !== 'copy') await requireWhole(client, names);
      return isKnownDatabase(client, names);
    });
    if (!isKnown) await inTransaction(client, write, () => client.query(`SELECT ${names.calls.note_database_1}`));
    return { names, version, synchronousCommit };
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`Cannot use ${name}: ${(error as Error).message}`);
  } finally {
    await client.end().catch(() => {});
  }
}

/** Runs `work` in a transaction. After an error, the caller must end the client, which ends the transaction. */
async function inTransaction<T>(client: pg.Client, begin: string, work: () => Promise<T>): Promise<T> {
  await client.query(begin);
  const result = await work();
  await client.query('COMMIT');
  return result;
}

/** Returns a connected client. Throws UserError. */
export async function connect(url: string): Promise<pg.Client> {
  const name = describeConnectionUrl(url);
  try {
    return await connectClient(url);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    if (error instanceof pg.DatabaseError) throw new UserError(`Cannot use ${name}: ${message}`);
    const needsPassword = code === undefined && message.includes('SASL') && !parseConnectionUrl(url).hasPassword;
    throw new UserError(
      `Cannot reach ${name}: ${needsPassword ? 'it requires a password, but the URL has none' : message || code}. Check the URL, and that PostgreSQL is running.`,
    );
  }
}

/** Throws UserError while a copy into the database is incomplete. */
export async function requireWhole(client: pg.Client, { tables }: Names): Promise<void> {
  const { rows } = await client.query(`SELECT FROM ${tables.copied} WHERE seq = $1`, [COPY_IN_PROGRESS]);
  if (rows.length > 0) throw new UserError('A copy into this database is incomplete. Run "plant-store migrate" again.');
}

/** False for a copy of a database and a promoted standby, which must not reuse change numbers. */
async function isKnownDatabase(client: pg.Client, { tables, calls }: Names): Promise<boolean> {
  const { rows } = await client.query(
    `SELECT FROM ${tables.database_identity}, ${tables.numbering} WHERE identity = ${calls.this_database_1}
       AND (timeline IS NOT DISTINCT FROM ${calls.timeline_1} OR pg_is_in_recovery())`,
  );
  return rows.length > 0;
}
