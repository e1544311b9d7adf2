// The store on SQLite: reads on a connection of its own, writes through the writer.

import { PlantStoreError } from '../error.ts';
import type { Observe } from '../observe.ts';
import { Refusal } from '../refusal.ts';
import type { Store } from '../store.ts';
import type { Scope, Token } from '../token.ts';
import { openReader, prepareDatabase, type Role } from './database.ts';
import { failureOf } from './failure.ts';
import { startWriter } from './writer.ts';

export interface SqliteOptions {
  path: string;
  role: Role;
  observe: Observe;
  /** Called once, when the disk or the file can no longer be trusted: the process must end. */
  onFailure(): void;
  clock?: () => number;
}

interface TokenRow {
  id: string;
  name: string;
  scopes: string;
  created: number;
  expires: number | null;
  revoked: number | null;
}

const TOKEN_COLUMNS = 'id, name, scopes, created, expires, revoked';

/** Throws Refusal when the file cannot be used. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, role, observe, onFailure, clock = Date.now } = options;
  const database = prepareDatabase(path, role);
  let failed = false;
  const writer = await startWriter({
    path: database.path,
    observe,
    onFailure() {
      failed = true;
      onFailure();
    },
  }).catch((error: Error) => {
    database.release();
    throw new Refusal(`Cannot use ${path}: ${error.message}`);
  });
  const db = openReader(database.path);
  const findToken = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens WHERE secret_hash = ?`);
  const listTokens = db.prepare(`SELECT ${TOKEN_COLUMNS} FROM tokens ORDER BY created, id`);

  return {
    create(plant, tokenId) {
      return writer.write({ kind: 'create_plant', plant, tokenId, nowMs: clock() });
    },
    async addToken(token, secretHash) {
      await writer.write({ kind: 'add_token', token, secretHash });
    },
    async findToken(secretHash) {
      const row = read(() => findToken.get(secretHash)) as TokenRow | undefined;
      return row && toToken(row);
    },
    async listTokens() {
      return read(() => listTokens.all() as unknown as TokenRow[]).map(toToken);
    },
    async revokeToken(id, nowMs) {
      await writer.write({ kind: 'revoke_token', id, nowMs });
    },
    async probe() {
      await writer.write({ kind: 'probe' });
    },
    async close() {
      if (failed) return; // to close a file is to write to it
      db.close();
      await writer.close(); // the last connection to close empties the WAL, which marks a clean stop
      database.release();
    },
  };

  function read<Rows>(query: () => Rows): Rows {
    try {
      return query();
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'bug') throw error;
      if (failure === 'fatal') writer.fail(error as Error);
      throw new PlantStoreError('unavailable', 'The database cannot be read now: try again later', { cause: error });
    }
  }
}

function toToken({ id, name, scopes, created, expires, revoked }: TokenRow): Token {
  return { id, name, scopes: scopes.split(' ') as Scope[], createdMs: created, expiresMs: expires, revokedMs: revoked };
}
