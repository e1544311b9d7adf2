// Reads and writes webhooks, and lists their deliveries.

import { DISABLED_BY_USER } from '../../domain/names.ts';
import { DEFAULT_LIMIT } from '../../domain/page-size.ts';
import type { StoredWebhook } from '../../domain/webhook.ts';
import { noSuchChange, type WebhookStore } from '../../domain/webhook-store.ts';
import {
  LISTED_COLUMNS,
  type ListedDeliveryRow,
  LOGGED_COLUMNS,
  type LoggedDeliveryRow,
  toDelivery,
  toLoggedDelivery,
  toWebhook,
  type WebhookRow,
} from '../row-mapping.ts';
import { noDelivery, notListed, noWebhook, toError } from '../write-rules.ts';
import { hasChangesAfter, lastSeq } from './change-log.ts';
import type { Tables } from './qualified-names.ts';
import type { StoreQueries } from './store-queries.ts';

export function createWebhookStore(queries: StoreQueries): WebhookStore {
  const { names, select, commit } = queries;
  const { tables } = names;
  const { changes, deliveries, webhooks } = tables;

  return {
    async addWebhook({ id, url, events, format = 'plant', name = null, secret, createdMs }) {
      const text = `
        INSERT INTO ${webhooks} (id, url, events, format, name, secret, created, position, waiting_since)
        VALUES ($1, $2, $3, $4, $5, $6, $7, (${lastSeq(tables)}), $7) RETURNING *`;
      return one(await commit({ text, values: [id, url, events.join(' '), format, name, secret, createdMs] }), id);
    },
    getWebhook,
    async listWebhooks() {
      const text = `SELECT * FROM ${webhooks} ORDER BY created, id`;
      return (await select<WebhookRow>({ text })).map(toWebhook);
    },
    async removeWebhook(id) {
      one(await commit({ text: `DELETE FROM ${webhooks} WHERE id = $1 RETURNING *`, values: [id] }), id);
    },
    async rotateSecret(id, secret, oldUntilMs) {
      const text = `
        UPDATE ${webhooks} SET old_secret = secret, old_secret_until = $3, secret = $2 WHERE id = $1 RETURNING *`;
      return one(await commit({ text, values: [id, secret, oldUntilMs] }), id);
    },
    async updateWebhook(id, { url = null, events, format = null, name, enabled = null }, nowMs) {
      const fields = [url, events?.join(' ') ?? null, format, name !== undefined, name ?? null, enabled];
      return one(await commit({ text: updateText(tables), values: [id, nowMs, ...fields, DISABLED_BY_USER] }), id);
    },
    async replay(id, { from, to = Number.MAX_SAFE_INTEGER }, nowMs) {
      await getWebhook(id);
      if (!(await hasChangesAfter(queries, from - 1))) throw noSuchChange(from);
      await commit({ text: replayText(tables), values: [id, from, to, nowMs] });
      return getWebhook(id);
    },
    async retryDelivery(id, seq, nowMs) {
      const [row] = await commit<ListedDeliveryRow>({ text: retryText(tables), values: [id, seq, nowMs] });
      if (row) return toDelivery(row);
      await getWebhook(id);
      throw toError(noDelivery(seq));
    },
    async listDeliveries(id, { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_LIMIT, status } = {}) {
      await getWebhook(id);
      const text = `
        SELECT ${LISTED_COLUMNS} FROM ${deliveries} d JOIN ${changes} c ON c.seq = d.seq
        WHERE d.webhook_id = $1 AND d.seq < $2 AND ($4::text IS NULL OR d.status = $4)
        ORDER BY d.seq DESC LIMIT $3`;
      return (await select<ListedDeliveryRow>({ text, values: [id, before, limit, status ?? null] })).map(toDelivery);
    },
    async getDelivery(id, seq) {
      const text = `
        SELECT ${LOGGED_COLUMNS} FROM ${deliveries} d JOIN ${changes} c ON c.seq = d.seq WHERE d.webhook_id = $1 AND d.seq = $2`;
      const [row] = await select<LoggedDeliveryRow>({ text, values: [id, seq] });
      if (row) return toLoggedDelivery(row);
      await getWebhook(id);
      throw toError(notListed(seq));
    },
    async oldestWaitingMs() {
      const text = `
        SELECT min(greatest(w.waiting_since, c.time)) AS time FROM ${webhooks} w JOIN ${changes} c ON c.seq IN (
          (SELECT min(seq) FROM ${changes} WHERE seq > w.position),
          (SELECT min(seq) FROM ${deliveries} d WHERE d.webhook_id = w.id AND d.status = 'waiting')
        )
        WHERE w.disabled IS NULL`;
      const [row] = await select<{ time: bigint | null }>({ text });
      return row?.time == null ? undefined : Number(row.time);
    },
    async countPendingDeliveries() {
      const text = `
        SELECT count(*) AS count FROM ${webhooks} w JOIN ${deliveries} d ON d.webhook_id = w.id AND d.status = 'waiting'
        WHERE w.disabled IS NULL`;
      const [row] = await select<{ count: bigint }>({ text });
      return Number(row?.count);
    },
  };

  async function getWebhook(id: string): Promise<StoredWebhook> {
    return one(await select({ text: `SELECT * FROM ${webhooks} WHERE id = $1`, values: [id] }), id);
  }
}

function one([row]: WebhookRow[], id: string): StoredWebhook {
  if (!row) throw toError(noWebhook(id));
  return toWebhook(row);
}

/** The SET expressions read the old row. `known` has what the patch changes besides the fields that it names. */
const updateText = ({ deliveries, numbering, webhooks }: Tables) => `
  WITH known AS (
    SELECT id, coalesce($3, url) <> url AS is_moved, coalesce($4, events) <> events AS is_refiltered,
      disabled IS NOT NULL AND $8 IS TRUE AS is_enabled, disabled IS NULL AND $8 IS FALSE AS is_disabled
    FROM ${webhooks} WHERE id = $1 FOR UPDATE
  ), updated AS (
    UPDATE ${webhooks} w SET url = coalesce($3, url), events = coalesce($4, events), format = coalesce($5, format),
      name = CASE WHEN $6 THEN $7 ELSE name END,
      disabled = CASE WHEN is_disabled THEN $2 WHEN NOT is_enabled THEN disabled END,
      failing_since = CASE WHEN is_disabled THEN $2 WHEN NOT (is_enabled OR is_moved AND disabled IS NULL) THEN failing_since END,
      reason = CASE WHEN is_disabled THEN $9 WHEN NOT (is_enabled OR is_moved AND disabled IS NULL) THEN reason END,
      waiting_since = CASE WHEN is_enabled THEN $2 ELSE waiting_since END,
      position = CASE WHEN is_enabled THEN greatest(position, pruned_to) ELSE position END,
      replay_to = CASE WHEN NOT is_enabled OR replay_resume > pruned_to THEN replay_to END,
      replay_resume = CASE WHEN NOT is_enabled OR replay_resume > pruned_to THEN replay_resume END,
      epoch = epoch + CASE WHEN is_moved OR is_refiltered OR is_enabled OR is_disabled THEN 1 ELSE 0 END
    FROM known, ${numbering}
    WHERE w.id = known.id RETURNING w.*, is_moved OR is_enabled AS is_due
  ), made_due AS (
    UPDATE ${deliveries} SET due = $2
    WHERE webhook_id = (SELECT id FROM updated WHERE is_due) AND status = 'waiting' AND due > $2
  )
  SELECT * FROM updated`;

const replayText = ({ deliveries, webhooks }: Tables) => `
  WITH replayed AS (
    UPDATE ${webhooks} w SET position = least(position, $2::bigint - 1), epoch = epoch + 1, waiting_since = $4,
      replay_to = CASE WHEN known.until < known.frontier THEN known.until END,
      replay_resume = CASE WHEN known.until < known.frontier THEN known.frontier END
    FROM (
      SELECT greatest($3::bigint, replay_to) AS until, coalesce(replay_resume, position) AS frontier
      FROM ${webhooks} WHERE id = $1 FOR UPDATE
    ) AS known
    WHERE id = $1 AND $2 <= known.frontier RETURNING w.id
  )
  DELETE FROM ${deliveries} WHERE webhook_id = (SELECT id FROM replayed) AND status = 'waiting' AND seq BETWEEN $2 AND $3`;

const retryText = ({ changes, deliveries, webhooks }: Tables) => `
  WITH wanted AS (
    UPDATE ${webhooks} w SET retries = retries + 1 FROM ${changes} c
    WHERE w.id = $1 AND c.seq = $2 AND (
      c.type = ANY (string_to_array(w.events, ' ')) AND c.seq <= coalesce(w.replay_resume, w.position)
      OR EXISTS (SELECT FROM ${deliveries} d WHERE d.webhook_id = w.id AND d.seq = c.seq)
    )
    RETURNING w.id, c.seq, c.plant_id
  ), retried AS (
    INSERT INTO ${deliveries} (webhook_id, seq, plant_id, status, attempts, due)
    SELECT id, seq, plant_id, 'waiting', 0, $3 FROM wanted
    ON CONFLICT (webhook_id, seq) DO UPDATE SET status = 'waiting', attempts = 0, due = excluded.due
    RETURNING *
  )
  SELECT ${LISTED_COLUMNS} FROM retried d JOIN ${changes} c ON c.seq = d.seq`;
