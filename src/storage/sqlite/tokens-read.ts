// Tokens as they are read, and the SQL.

import type { DatabaseSync } from 'node:sqlite';
import type { Token } from '../../domain/token.ts';
import { type TokenRow, toOldToken, toToken } from '../row-mapping.ts';

type FoundRow = TokenRow & { old_until: number | null };

export function prepareTokenReads(db: DatabaseSync) {
  const columns = 't.id, t.name, t.scopes, t.created, t.expires, t.revoked, t.rate, t.last_used';
  const all = `SELECT ${columns}, (SELECT max(until) FROM old_secrets WHERE token_id = t.id) AS old_until FROM tokens t`;
  const find = db.prepare(`${all} WHERE t.secret_hash = ?`);
  const findByOld = db.prepare(`
    SELECT ${columns}, o.until AS old_until FROM old_secrets o JOIN tokens t ON t.id = o.token_id WHERE o.secret_hash = ?`);
  const get = db.prepare(`${all} WHERE t.id = ?`);
  const list = db.prepare(`${all} ORDER BY t.created, t.id`);

  return {
    findToken(secretHash: string): Token | undefined {
      const row = find.get(secretHash) as FoundRow | undefined;
      if (row) return toToken(row);
      const old = findByOld.get(secretHash) as (FoundRow & { old_until: number }) | undefined;
      return old && toOldToken(old);
    },
    getToken(id: string): Token | undefined {
      const row = get.get(id) as FoundRow | undefined;
      return row && toToken(row);
    },
    listTokens: (): Token[] => (list.all() as unknown as FoundRow[]).map(toToken),
  };
}
