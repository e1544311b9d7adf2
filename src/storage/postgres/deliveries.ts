// Stores the progress of deliveries, and assigns webhooks to nodes.

import { MAX_LOG_CHARS } from '../../domain/attempt-log.ts';
import type { DeliveryStore } from '../../domain/webhook-store.ts';
import { printJson } from '../../lib/exact-json.ts';
import { isUnavailable } from '../../observability/bug-report.ts';
import { OPEN_COLUMNS, type OpenRow, toOpenDeliveries, toWebhook } from '../row-mapping.ts';
import { KEPT_DELIVERED, TRIM_EVERY } from '../write-limits.ts';
import { lastSeq } from './change-log.ts';
import { toArray } from './pg-array.ts';
import type { Tables } from './qualified-names.ts';
import type { StoreQueries } from './store-queries.ts';

/** A claimed webhook. `webhook` is its table row as JSON. */
type ClaimedRow = { webhook: string; surplus: number; last_seq: bigint };

export function createDeliveryStore({ names, select, commit }: StoreQueries): DeliveryStore {
  const { tables } = names;
  const { delivery_nodes, deliveries, webhooks } = tables;
  /** Number of new deliveries by webhook since the last trim. */
  const untrimmed = new Map<string, number>();

  return {
    async claimWebhooks(node, leaseMs) {
      const text = `SELECT webhook, surplus, (${lastSeq(tables)}) AS last_seq FROM ${names.calls.claim_webhooks_2}`;
      const rows = await commit<ClaimedRow>({ text, values: [node, leaseMs] });
      return {
        webhooks: rows.map(({ webhook }) => toWebhook(JSON.parse(webhook))),
        surplus: rows[0]?.surplus ?? 0,
        lastSeq: Number(rows[0]?.last_seq ?? 0),
      };
    },
    async releaseWebhooks(node, ids) {
      const text = ids
        ? `UPDATE ${webhooks} SET node = NULL WHERE node = $1 AND id = ANY ($2::text[])`
        : `WITH gone AS (DELETE FROM ${delivery_nodes} WHERE id = $1) UPDATE ${webhooks} SET node = NULL WHERE node = $1`;
      await commit({ text, values: ids ? [node, toArray(ids)] : [node] });
    },
    async openDeliveries(ids) {
      const text = `SELECT ${OPEN_COLUMNS} FROM ${deliveries} WHERE webhook_id = ANY ($1::text[]) AND status = 'waiting' ORDER BY seq`;
      return toOpenDeliveries(await select<OpenRow>({ text, values: [toArray(ids)] }));
    },
    async recordDeliveries(node, progress) {
      const records = progress.flatMap(({ id, records }) => records.map((record) => ({ id, ...record })));
      const states = progress.map(({ records: _, ...state }) => state);
      const values = [node, printJson(states), printJson(records)];
      const rows = await commit<{ id: string }>({ text: recordText(tables), values });
      for (const { id } of records) untrimmed.set(id, (untrimmed.get(id) ?? 0) + 1);
      await trim();
      return rows.map(({ id }) => id);
    },
  };

  async function trim(): Promise<void> {
    const ids = [...untrimmed].filter(([, count]) => count >= TRIM_EVERY).map(([id]) => id);
    if (ids.length === 0) return;
    for (const id of ids) untrimmed.delete(id);
    await commit({ text: trimText(tables), values: [toArray(ids)] }).catch((error) => {
      if (!isUnavailable(error)) throw error; // if unavailable, a later call trims them
    });
  }
}

/** Records the progress of webhooks that are still assigned to this node and in the same epoch. */
const recordText = ({ deliveries, webhooks }: Tables) => `
  WITH state AS (
    SELECT id, epoch, position, (failing->>'sinceMs')::bigint AS failing_since, failing->>'reason' AS reason, "disabledMs" AS disabled
    FROM jsonb_to_recordset($2::jsonb) AS sent (id text, epoch bigint, position bigint, failing jsonb, "disabledMs" bigint)
  ), held AS (
    UPDATE ${webhooks} w SET position = s.position, failing_since = s.failing_since, reason = s.reason, disabled = s.disabled,
      replay_to = CASE WHEN s.position <= w.replay_to THEN w.replay_to END,
      replay_resume = CASE WHEN s.position <= w.replay_to THEN w.replay_resume END
    FROM state s WHERE w.id = s.id AND w.epoch = s.epoch AND w.node = $1 AND w.disabled IS NULL RETURNING w.id
  ), recorded AS (
    INSERT INTO ${deliveries} (webhook_id, seq, plant_id, status, attempts, due, time, code, answer, error, attempt_log)
    SELECT w.id, seq, "plantId", status, attempts, "dueMs", "timeMs", code, answer, error, "attemptLog"
    FROM jsonb_to_recordset($3::jsonb) AS sent (
      id text, seq bigint, "plantId" bigint, status text, attempts integer, "dueMs" bigint, "timeMs" bigint, code integer,
      answer text, error text, "attemptLog" text
    ) JOIN ${webhooks} w ON w.id = sent.id
    WHERE status = 'delivered' OR w.id IN (SELECT id FROM held)
    ON CONFLICT (webhook_id, seq) DO UPDATE SET status = excluded.status, attempts = excluded.attempts, due = excluded.due,
      time = excluded.time, code = excluded.code, answer = excluded.answer, error = excluded.error,
      attempt_log = left(excluded.attempt_log || deliveries.attempt_log, ${MAX_LOG_CHARS})
    -- A requested retry has 0 attempts and a time. The failure of an earlier attempt does not overwrite it.
    WHERE excluded.status = 'delivered' OR excluded.attempts <= 1 OR NOT (deliveries.attempts = 0 AND deliveries.time IS NOT NULL)
  )
  SELECT id FROM held`;

const trimText = ({ deliveries }: Tables) => `
  DELETE FROM ${deliveries} d USING unnest($1::text[]) AS full_one (id), LATERAL (
    SELECT seq FROM ${deliveries} e WHERE e.webhook_id = full_one.id AND e.status = 'delivered'
    ORDER BY seq DESC LIMIT 1 OFFSET ${KEPT_DELIVERED}
  ) AS oldest
  WHERE d.webhook_id = full_one.id AND d.status = 'delivered' AND d.seq <= oldest.seq`;
