// Reads and writes tokens and their secrets.

import { isActive, type Token, type TokenStore } from '../../domain/token.ts';
import { printRate } from '../../lib/token-bucket.ts';
import { TOKEN_COLUMNS, type TokenRow, toOldToken, toToken } from '../row-mapping.ts';
import { lastAdmin, mustStayAdmin, noActiveToken, noToken, toError } from '../write-rules.ts';
import { createBatchedLookup } from './batched-lookup.ts';
import { toArray } from './pg-array.ts';
import { type StoreQueries, tooManyReads } from './store-queries.ts';

type FoundRow = TokenRow & { old_until: bigint };

const IS_ACTIVE = 'revoked IS NULL AND (expires IS NULL OR expires > $2)';

export function createTokenStore({ names: { tables, calls }, select, commit }: StoreQueries): TokenStore {
  const columnsOfAll = `${TOKEN_COLUMNS}, (SELECT max(until) FROM ${tables.old_secrets} WHERE token_id = t.id) AS old_until`;
  const all = `SELECT ${columnsOfAll} FROM ${tables.tokens} t`;
  // Locks all admin tokens, so that concurrent requests cannot revoke or demote the last two.
  const withAdmins = `
    WITH admins AS MATERIALIZED (
      SELECT id FROM ${tables.tokens} WHERE ${IS_ACTIVE} AND 'admin' = ANY (string_to_array(scopes, ' ')) ORDER BY id FOR UPDATE
    )`;
  return {
    async addToken({ id, name, scopes, createdMs, expiresMs, rate }, secretHash) {
      const text = `INSERT INTO ${tables.tokens} (id, secret_hash, name, scopes, created, expires, rate) VALUES ($1, $2, $3, $4, $5, $6, $7)`;
      const values = [id, secretHash, name, scopes.join(' '), createdMs, expiresMs, rate && printRate(rate)];
      await commit({ text, values });
    },
    findToken: createBatchedLookup(findTokens, tooManyReads),
    getToken,
    async listTokens({ limit, after } = {}) {
      const text = `${all} WHERE (t.created, t.id) > ($1::bigint, $2) ORDER BY t.created, t.id LIMIT $3`;
      const values = [after?.createdMs ?? -1, after?.id ?? '', limit ?? null];
      return (await select<FoundRow>({ text, values })).map(toToken);
    },
    async revokeToken(id, nowMs, evenLastAdmin = false) {
      const text = `
        ${withAdmins}
        UPDATE ${tables.tokens} SET revoked = coalesce(revoked, $2)
        WHERE id = $1 AND ($3 OR EXISTS (SELECT FROM admins WHERE id <> $1) OR NOT EXISTS (SELECT FROM admins))
        RETURNING id`;
      const revoked = await commit({ text, values: [id, nowMs, evenLastAdmin] });
      if (revoked.length > 0) return;
      await getToken(id);
      throw toError(lastAdmin(id));
    },
    async rotateToken(id, secretHash, nowMs, oldUntilMs) {
      const text = `SELECT ${calls.rotate_token_2} AS is_rotated`;
      const [row] = await commit<{ is_rotated: boolean }>({ text, values: [id, secretHash, nowMs, oldUntilMs] });
      if (!row?.is_rotated) throw toError(noActiveToken(id));
      return getToken(id);
    },
    async updateToken(id, { name, scopes, rate, expiresMs }, nowMs) {
      // The condition on the last admin is the rule of endsAdmin() in write-rules.ts.
      const text = `
        ${withAdmins}
        UPDATE ${tables.tokens} SET
          name = coalesce($3::text, name),
          scopes = coalesce($4::text, scopes),
          rate = CASE WHEN $5::boolean THEN $6::text ELSE rate END,
          expires = CASE WHEN $7::boolean THEN $8::bigint ELSE expires END
        WHERE id = $1 AND ${IS_ACTIVE} AND (
          ('admin' = ANY (string_to_array($4::text, ' ')) IS NOT FALSE AND ($8::bigint >= expires OR $8::bigint IS NULL))
          OR EXISTS (SELECT FROM admins WHERE id <> $1) OR NOT EXISTS (SELECT FROM admins)
        )
        RETURNING id`;
      const rateText = rate && printRate(rate);
      const values = [
        id,
        nowMs,
        name,
        scopes?.join(' '),
        rate !== undefined,
        rateText,
        expiresMs !== undefined,
        expiresMs,
      ];
      const updated = await commit({ text, values: values.map((value) => value ?? null) });
      if (updated.length > 0) return getToken(id);
      const token = await findById(id);
      throw toError(token && isActive(token, nowMs) ? mustStayAdmin(id) : noActiveToken(id));
    },
    async noteUse(ids, timeMs) {
      // The time of use is not critical, so this waits neither for a disk or a standby nor for a row lock.
      const text = `
        WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true)),
        free AS (SELECT id FROM ${tables.tokens} WHERE id = ANY ($1) ORDER BY id FOR UPDATE SKIP LOCKED)
        UPDATE ${tables.tokens} t SET last_used = greatest(t.last_used, $2) FROM relaxed, free WHERE t.id = free.id
        RETURNING t.id`;
      const written = new Set(
        (await commit<{ id: string }>({ text, values: [toArray(ids), timeMs] })).map(({ id }) => id),
      );
      return ids.filter((id) => !written.has(id));
    },
  };

  async function findTokens(secretHashes: string[]): Promise<Map<string, Token>> {
    const text = `
      SELECT t.secret_hash, ${columnsOfAll}, false AS is_old FROM ${tables.tokens} t WHERE t.secret_hash = ANY ($1)
      UNION ALL
      SELECT o.secret_hash, ${TOKEN_COLUMNS}, o.until, true
      FROM ${tables.old_secrets} o JOIN ${tables.tokens} t ON t.id = o.token_id WHERE o.secret_hash = ANY ($1)`;
    const rows = await select<FoundRow & { secret_hash: string; is_old: boolean }>({
      text,
      values: [toArray(secretHashes)],
    });
    return new Map(rows.map((row) => [row.secret_hash, row.is_old ? toOldToken(row) : toToken(row)]));
  }

  async function getToken(id: string): Promise<Token> {
    const token = await findById(id);
    if (!token) throw toError(noToken(id));
    return token;
  }

  async function findById(id: string): Promise<Token | undefined> {
    const [row] = await select<FoundRow>({ text: `${all} WHERE t.id = $1`, values: [id] });
    return row && toToken(row);
  }
}
