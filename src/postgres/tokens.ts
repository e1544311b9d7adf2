// Tokens: all SQL of them.

import { lastAdmin, noActiveToken, noToken, type Refused, toError } from '../decide.ts';
import { printRate } from '../rate.ts';
import { type TokenRow, toOldToken, toToken } from '../rows.ts';
import type { Token, TokenStore } from '../token.ts';
import type { Row, Statement } from './transaction.ts';

interface Database {
  read(statement: Statement): Promise<Row[]>;
  commit(statement: Statement): Promise<Row[]>;
}

type FoundRow = TokenRow & { old_until: bigint };

const COLUMNS = 't.id, t.name, t.scopes, t.created, t.expires, t.revoked, t.rate, t.last_used';
const ALL = `SELECT ${COLUMNS}, (SELECT max(until) FROM old_secrets WHERE token_id = t.id) AS old_until FROM tokens t`;
const IS_ACTIVE = 'revoked IS NULL AND (expires IS NULL OR expires > $2)';

export function createTokenStore({ read, commit }: Database): TokenStore {
  return {
    async addToken({ id, name, scopes, createdMs, expiresMs, rate }, secretHash) {
      const text =
        'INSERT INTO tokens (id, secret_hash, name, scopes, created, expires, rate) VALUES ($1, $2, $3, $4, $5, $6, $7)';
      const values = [id, secretHash, name, scopes.join(' '), createdMs, expiresMs, rate && printRate(rate)];
      await commit({ text, values });
    },
    async findToken(secretHash) {
      const text = `
        SELECT found.*, false AS is_old FROM (${ALL} WHERE t.secret_hash = $1) AS found
        UNION ALL
        SELECT ${COLUMNS}, o.until, true FROM old_secrets o JOIN tokens t ON t.id = o.token_id WHERE o.secret_hash = $1`;
      const [row] = await read({ text, values: [secretHash] });
      return row && (row.is_old ? toOldToken : toToken)(row as unknown as FoundRow);
    },
    getToken,
    async listTokens() {
      return (await read({ text: `${ALL} ORDER BY t.created, t.id` })).map((row) =>
        toToken(row as unknown as FoundRow),
      );
    },
    async revokeToken(id, nowMs, evenLastAdmin = false) {
      // All of them are locked, so that of the last two each cannot revoke the other at once.
      const text = `
        WITH admins AS MATERIALIZED (
          SELECT id FROM tokens WHERE ${IS_ACTIVE} AND 'admin' = ANY (string_to_array(scopes, ' ')) ORDER BY id FOR UPDATE
        )
        UPDATE tokens SET revoked = coalesce(revoked, $2)
        WHERE id = $1 AND ($3 OR EXISTS (SELECT FROM admins WHERE id <> $1) OR NOT EXISTS (SELECT FROM admins))
        RETURNING id`;
      const revoked = await commit({ text, values: [id, nowMs, evenLastAdmin] });
      if (revoked.length > 0) return;
      await getToken(id);
      refuse(lastAdmin(id));
    },
    async rotateToken(id, secretHash, nowMs, oldUntilMs) {
      const text = `
        WITH active AS (SELECT id, secret_hash FROM tokens WHERE id = $1 AND ${IS_ACTIVE} FOR UPDATE),
        shortened AS (UPDATE old_secrets SET until = least(until, $4) WHERE token_id = (SELECT id FROM active)),
        kept AS (INSERT INTO old_secrets SELECT secret_hash, id, $4 FROM active)
        UPDATE tokens t SET secret_hash = $3 FROM active WHERE t.id = active.id RETURNING t.id`;
      const rotated = await commit({ text, values: [id, nowMs, secretHash, oldUntilMs] });
      if (rotated.length === 0) refuse(noActiveToken(id));
      return getToken(id);
    },
    async noteUse(id, timeMs) {
      // Not worth waiting for a disk or a standby.
      const text = `
        WITH relaxed AS (SELECT set_config('synchronous_commit', 'off', true))
        UPDATE tokens SET last_used = greatest(last_used, $2) FROM relaxed WHERE id = $1`;
      await commit({ text, values: [id, timeMs] });
    },
  };

  async function getToken(id: string): Promise<Token> {
    const [row] = await read({ text: `${ALL} WHERE t.id = $1`, values: [id] });
    return row ? toToken(row as unknown as FoundRow) : refuse(noToken(id));
  }
}

function refuse(refused: Refused): never {
  throw toError(refused);
}
