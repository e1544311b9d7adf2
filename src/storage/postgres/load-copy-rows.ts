// Converts differences between two stores to statements that make this store equal to the other.

import { printJson } from '../../lib/exact-json.ts';
import type { ChangeRow, DeliveryRow, PlantRowWithId } from '../row-mapping.ts';
import {
  CHANGE,
  type CopiedSecret,
  type CopiedToken,
  type CopiedWebhook,
  DELIVERY,
  type Difference,
  PLANT,
  WEBHOOK,
} from '../store-copy.ts';
import { sortNameOf } from './name-keys.ts';
import { toArray } from './pg-array.ts';
import { indexEntries } from './plants-write.ts';
import type { Tables } from './qualified-names.ts';
import { indexKeys } from './search.ts';
import type { Statement } from './statement.ts';

const TOKEN: (keyof CopiedToken)[] = [
  ...(['id', 'secret_hash', 'name', 'scopes', 'created', 'expires', 'revoked', 'rate', 'last_used'] as const),
];

export function storePlants(tables: Tables, batch: Difference<PlantRowWithId>[]): Statement[] {
  const { olds, rows } = split(batch);
  const entries = (of: PlantRowWithId[]) =>
    indexEntries(of.map((plant) => ({ id: plant.id, words: indexKeys(plant) })));
  return [
    {
      text: `DELETE FROM ${tables.words} w USING unnest($1::bigint[], $2::bigint[]) AS old (word, id) WHERE w.word = old.word AND w.id = old.id`,
      values: entries(olds),
    },
    { text: `DELETE FROM ${tables.plants} WHERE id = ANY ($1::bigint[])`, values: [toArray(olds.map(({ id }) => id))] },
    insert(
      tables.plants,
      [...PLANT, 'sort_name'],
      rows.map((row) => ({ ...row, sort_name: sortNameOf(row.name) })),
    ),
    {
      text: `INSERT INTO ${tables.words} SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING`,
      values: entries(rows),
    },
  ];
}

export function storeChanges(tables: Tables, batch: Difference<ChangeRow>[]): Statement[] {
  const { olds, rows } = split(batch);
  const seqs = toArray(olds.map(({ seq }) => seq));
  return [
    { text: `DELETE FROM ${tables.changes} WHERE seq = ANY ($1::bigint[])`, values: [seqs] },
    insert(tables.changes, CHANGE, rows),
  ];
}

/** Merges tokens. Tokens revoked here stay revoked, secrets replaced here stay replaced, and new tokens are kept. */
export function storeTokens(tables: Tables, tokens: CopiedToken[]): Statement[] {
  const onConflict = `
    ON CONFLICT (id) DO UPDATE SET
      revoked = coalesce(tokens.revoked, excluded.revoked),
      last_used = greatest(tokens.last_used, excluded.last_used),
      secret_hash = CASE
        WHEN EXISTS (SELECT FROM ${tables.old_secrets} o WHERE o.secret_hash = excluded.secret_hash) THEN tokens.secret_hash
        ELSE excluded.secret_hash
      END`;
  return [insert(tables.tokens, TOKEN, tokens, onConflict)];
}

export function storeOldSecrets(tables: Tables, secrets: CopiedSecret[]): Statement[] {
  const onConflict = 'ON CONFLICT (secret_hash) DO UPDATE SET until = least(old_secrets.until, excluded.until)';
  return [insert(tables.old_secrets, ['secret_hash', 'token_id', 'until'], secrets, onConflict)];
}

/** Replaces all webhooks and removes all deliveries. */
export function storeWebhooks(tables: Tables, webhooks: CopiedWebhook[]): Statement[] {
  return [
    { text: `DELETE FROM ${tables.webhooks}` },
    { text: `DELETE FROM ${tables.deliveries}` },
    insert(tables.webhooks, WEBHOOK, webhooks),
  ];
}

export function storeDeliveries(tables: Tables, deliveries: DeliveryRow[]): Statement[] {
  return [insert(tables.deliveries, DELIVERY, deliveries)];
}

function split<T>(batch: Difference<T>[]): { olds: T[]; rows: T[] } {
  return { olds: batch.flatMap(({ old }) => old ?? []), rows: batch.flatMap(({ row }) => row ?? []) };
}

function insert<Row>(table: string, columns: (keyof Row & string)[], rows: Row[], onConflict = ''): Statement {
  const names = columns.join(', ');
  return {
    text: `INSERT INTO ${table} (${names}) SELECT ${names} FROM json_populate_recordset(NULL::${table}, $1::json) ${onConflict}`,
    values: [printJson(rows)],
  };
}
