// Differences between two stores → the statements that make the rows of this one like those of the other.

import type { ChangeRow } from '../row-mapping.ts';
import type {
  CopiedDelivery,
  CopiedPlant,
  CopiedSecret,
  CopiedToken,
  CopiedWebhook,
  Difference,
} from '../store-copy.ts';
import { toArray } from './pg-array.ts';
import { indexEntries } from './plants-write.ts';
import type { Tables } from './qualified-names.ts';
import { indexKeys } from './search.ts';
import type { Statement } from './transaction.ts';

export function storePlants(tables: Tables, batch: Difference<CopiedPlant>[]): Statement[] {
  const { olds, rows } = split(batch);
  const entries = (of: CopiedPlant[]) => indexEntries(of.map((plant) => ({ id: plant.id, words: indexKeys(plant) })));
  return [
    {
      text: `DELETE FROM ${tables.words} w USING unnest($1::bigint[], $2::bigint[]) AS old (word, id) WHERE w.word = old.word AND w.id = old.id`,
      values: entries(olds),
    },
    { text: `DELETE FROM ${tables.plants} WHERE id = ANY ($1::bigint[])`, values: [toArray(olds.map(({ id }) => id))] },
    insert(
      tables.plants,
      { id: 'bigint', name: 'text', tag: 'text', created: 'bigint', updated: 'bigint', seq: 'bigint' },
      rows,
    ),
    {
      text: `INSERT INTO ${tables.words} SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING`,
      values: entries(rows),
    },
  ];
}

export function storeChanges(tables: Tables, batch: Difference<ChangeRow>[]): Statement[] {
  const { olds, rows } = split(batch);
  const types = {
    seq: 'bigint',
    type: 'text',
    time: 'bigint',
    plant_id: 'bigint',
    name: 'text',
    tag: 'text',
    token_id: 'text',
  };
  return [
    {
      text: `DELETE FROM ${tables.changes} WHERE seq = ANY ($1::bigint[])`,
      values: [toArray(olds.map(({ seq }) => seq))],
    },
    insert(tables.changes, types, rows),
  ];
}

/** What was revoked here stays revoked, a secret that was replaced here stays replaced, and what is only here stays. */
export function storeTokens(tables: Tables, tokens: CopiedToken[]): Statement[] {
  const types = {
    id: 'text',
    secret_hash: 'text',
    name: 'text',
    scopes: 'text',
    created: 'bigint',
    expires: 'bigint',
    revoked: 'bigint',
    rate: 'text',
    last_used: 'bigint',
  };
  const onConflict = `
    ON CONFLICT (id) DO UPDATE SET
      revoked = coalesce(tokens.revoked, excluded.revoked),
      last_used = greatest(tokens.last_used, excluded.last_used),
      secret_hash = CASE
        WHEN EXISTS (SELECT FROM ${tables.old_secrets} o WHERE o.secret_hash = excluded.secret_hash) THEN tokens.secret_hash
        ELSE excluded.secret_hash
      END`;
  return [insert(tables.tokens, types, tokens, onConflict)];
}

export function storeOldSecrets(tables: Tables, secrets: CopiedSecret[]): Statement[] {
  const onConflict = 'ON CONFLICT (secret_hash) DO UPDATE SET until = least(old_secrets.until, excluded.until)';
  return [insert(tables.old_secrets, { secret_hash: 'text', token_id: 'text', until: 'bigint' }, secrets, onConflict)];
}

/** In place of those that are there. */
export function storeWebhooks(tables: Tables, webhooks: CopiedWebhook[]): Statement[] {
  const types = {
    id: 'text',
    url: 'text',
    events: 'text',
    secret: 'text',
    old_secret: 'text',
    old_secret_until: 'bigint',
    created: 'bigint',
    position: 'bigint',
    replay_to: 'bigint',
    replay_resume: 'bigint',
    waiting_since: 'bigint',
    failing_since: 'bigint',
    reason: 'text',
    disabled: 'bigint',
    epoch: 'bigint',
    retries: 'bigint',
  };
  return [
    { text: `DELETE FROM ${tables.webhooks}` },
    { text: `DELETE FROM ${tables.deliveries}` },
    insert(tables.webhooks, types, webhooks),
  ];
}

export function storeDeliveries(tables: Tables, deliveries: CopiedDelivery[]): Statement[] {
  const types = {
    webhook_id: 'text',
    seq: 'bigint',
    plant_id: 'bigint',
    status: 'text',
    attempts: 'integer',
    due: 'bigint',
    time: 'bigint',
    code: 'integer',
    answer: 'text',
    error: 'text',
  };
  return [insert(tables.deliveries, types, deliveries)];
}

function split<T>(batch: Difference<T>[]): { olds: T[]; rows: T[] } {
  return { olds: batch.flatMap(({ old }) => old ?? []), rows: batch.flatMap(({ row }) => row ?? []) };
}

function insert<T extends object>(table: string, types: Record<string, string>, rows: T[], onConflict = ''): Statement {
  const columns = Object.keys(types);
  const arrays = Object.values(types).map((type, at) => `$${at + 1}::${type}[]`);
  return {
    text: `INSERT INTO ${table} (${columns.join(', ')}) SELECT * FROM unnest(${arrays.join(', ')}) ${onConflict}`,
    values: columns.map((column) => toArray(rows.map((row) => row[column as keyof T] as string | bigint | null))),
  };
}
