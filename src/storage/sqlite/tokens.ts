// Reads and writes tokens. The writes run in the writer thread, which loads no schemas.

import type { DatabaseSync } from 'node:sqlite';
import type { Token, TokenChange, TokenStore } from '../../domain/token.ts';
import { printRate } from '../../lib/token-bucket.ts';
import { TOKEN_COLUMNS, type TokenRow, toOldToken, toToken } from '../row-mapping.ts';
import {
  endsAdmin,
  lastAdmin,
  mustStayAdmin,
  noActiveToken,
  noToken,
  type Rejection,
  toError,
} from '../write-rules.ts';
import type { ReadGuard } from './sqlite-errors.ts';

export type TokenWrite =
  | { kind: 'add_token'; token: Token; secretHash: string }
  | { kind: 'revoke_token'; id: string; nowMs: number; evenLastAdmin: boolean }
  | { kind: 'rotate_token'; id: string; secretHash: string; nowMs: number; oldUntilMs: number }
  | { kind: 'update_token'; id: string; change: TokenChange; nowMs: number }
  | { kind: 'note_use'; ids: string[]; timeMs: number };

export type TokenResults = Record<TokenWrite['kind'], null>;

type FoundRow = TokenRow & { old_until: number | null };
type TokenAccess = { read: ReadGuard['read']; write(write: TokenWrite): Promise<unknown> };

export function createTokenStore(db: DatabaseSync, { read, write }: TokenAccess): TokenStore {
  const all = `
    SELECT ${TOKEN_COLUMNS}, (SELECT max(until) FROM old_secrets WHERE token_id = t.id) AS old_until FROM tokens t`;
  const find = db.prepare(`${all} WHERE t.secret_hash = ?`);
  const findByOldSecret = db.prepare(`
    SELECT ${TOKEN_COLUMNS}, o.until AS old_until FROM old_secrets o JOIN tokens t ON t.id = o.token_id
    WHERE o.secret_hash = ?`);
  const get = db.prepare(`${all} WHERE t.id = ?`);
  const list = db.prepare(`${all} WHERE (t.created, t.id) > (?, ?) ORDER BY t.created, t.id LIMIT ?`);

  return {
    async addToken(token, secretHash) {
      await write({ kind: 'add_token', token, secretHash });
    },
    async findToken(secretHash) {
      return read(() => {
        const row = find.get(secretHash) as FoundRow | undefined;
        if (row) return toToken(row);
        const old = findByOldSecret.get(secretHash) as (FoundRow & { old_until: number }) | undefined;
        return old && toOldToken(old);
      });
    },
    getToken,
    async listTokens({ limit = -1, after } = {}) {
      return read(() => list.all(after?.createdMs ?? -1, after?.id ?? '', limit) as FoundRow[]).map(toToken);
    },
    async revokeToken(id, nowMs, evenLastAdmin = false) {
      await write({ kind: 'revoke_token', id, nowMs, evenLastAdmin });
    },
    async rotateToken(id, secretHash, nowMs, oldUntilMs) {
      await write({ kind: 'rotate_token', id, secretHash, nowMs, oldUntilMs });
      return getToken(id);
    },
    async updateToken(id, change, nowMs) {
      await write({ kind: 'update_token', id, change, nowMs });
      return getToken(id);
    },
    async noteUse(ids, timeMs) {
      await write({ kind: 'note_use', ids, timeMs });
      return [];
    },
  };

  async function getToken(id: string): Promise<Token> {
    const row = read(() => get.get(id) as FoundRow | undefined);
    if (!row) throw toError(noToken(id));
    return toToken(row);
  }
}

/** Returns a function that applies a token write in the caller's transaction. */
export function prepareTokenWrites(db: DatabaseSync): (write: TokenWrite) => { done: null } | Rejection {
  const insert = db.prepare(
    'INSERT INTO tokens (id, secret_hash, name, scopes, created, expires, rate) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const revoke = db.prepare('UPDATE tokens SET revoked = coalesce(revoked, ?2) WHERE id = ?1');
  const isLastAdmin = prepareIsLastAdmin(db);
  const shorten = db.prepare('UPDATE old_secrets SET until = min(until, ?2) WHERE token_id = ?1');
  const keepOld = db.prepare(`
    INSERT INTO old_secrets SELECT secret_hash, id, ?3 FROM tokens
    WHERE id = ?1 AND revoked IS NULL AND (expires IS NULL OR expires > ?2)`);
  const replace = db.prepare('UPDATE tokens SET secret_hash = ?2 WHERE id = ?1');
  const update = prepareTokenUpdate(db);
  const noteUse = db.prepare('UPDATE tokens SET last_used = max(coalesce(last_used, 0), ?2) WHERE id = ?1');

  return (write) => {
    switch (write.kind) {
      case 'add_token': {
        const { id, name, scopes, createdMs, expiresMs, rate } = write.token;
        insert.run(id, write.secretHash, name, scopes.join(' '), createdMs, expiresMs, rate && printRate(rate));
        break;
      }
      case 'revoke_token': {
        const { id, nowMs, evenLastAdmin } = write;
        if (!evenLastAdmin && isLastAdmin(id, nowMs)) return lastAdmin(id);
        if (revoke.run(id, nowMs).changes === 0n) return noToken(id);
        break;
      }
      case 'rotate_token': {
        const { id, secretHash, nowMs, oldUntilMs } = write;
        if (keepOld.run(id, nowMs, oldUntilMs).changes === 0n) return noActiveToken(id);
        shorten.run(id, oldUntilMs);
        replace.run(id, secretHash);
        break;
      }
      case 'update_token': {
        const { id, change, nowMs } = write;
        const token = update.find(id, nowMs);
        if (!token) return noActiveToken(id);
        if (endsAdmin(token, change) && isLastAdmin(id, nowMs)) return mustStayAdmin(id);
        update.apply(token, change);
        break;
      }
      case 'note_use':
        for (const id of write.ids) noteUse.run(id, write.timeMs);
    }
    return { done: null };
  };
}

function prepareIsLastAdmin(db: DatabaseSync): (id: string, nowMs: number) => boolean {
  const activeAdmins = db.prepare(`
    SELECT id FROM tokens WHERE ' ' || scopes || ' ' LIKE '% admin %' AND revoked IS NULL AND (expires IS NULL OR expires > ?)
    LIMIT 2`);
  return (id, nowMs) => {
    const admins = activeAdmins.all(nowMs) as { id: string }[];
    return admins.length === 1 && admins[0]?.id === id;
  };
}

function prepareTokenUpdate(db: DatabaseSync) {
  const find = db.prepare(`
    SELECT ${TOKEN_COLUMNS}, NULL AS old_until FROM tokens t
    WHERE t.id = ?1 AND t.revoked IS NULL AND (t.expires IS NULL OR t.expires > ?2)`);
  const update = db.prepare('UPDATE tokens SET name = ?2, scopes = ?3, rate = ?4, expires = ?5 WHERE id = ?1');
  return {
    /** Returns the token if it is active. */
    find(id: string, nowMs: number): Token | undefined {
      const row = find.get(id, nowMs) as FoundRow | undefined;
      return row && toToken(row);
    },
    apply({ id, ...token }: Token, change: TokenChange): void {
      const { name = token.name, scopes = token.scopes, rate = token.rate, expiresMs = token.expiresMs } = change;
      update.run(id, name, scopes.join(' '), rate && printRate(rate), expiresMs);
    },
  };
}
