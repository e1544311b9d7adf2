// Webhooks and their deliveries: all SQL of both but claim_webhooks_2, which shares them out among the nodes.

import { DEFAULT_LIMIT } from '../../domain/page-size.ts';
import { type DeliveryStore, noSuchChange, type StoredWebhook, type WebhookStore } from '../../domain/webhook.ts';
import { printJson } from '../../lib/exact-json.ts';
import { isUnavailable } from '../../observability/bug-report.ts';
import { type DeliveryRow, toDelivery, toOpenDeliveries, toWebhook, type WebhookRow } from '../row-mapping.ts';
import { KEPT_DELIVERED } from '../write-limits.ts';
import { noDelivery, noWebhook, toError } from '../write-rules.ts';
import { toArray } from './pg-array.ts';
import { lastSeq } from './plants-read.ts';
import type { Names, Tables } from './qualified-names.ts';
import type { Row, Statement } from './transaction.ts';

/** Those that were delivered are looked through for old ones when so many have come. */
const TRIM_EVERY = 500;

interface Database {
  names: Names;
  read(statement: Statement): Promise<Row[]>;
  commit(statement: Statement): Promise<Row[]>;
  /** Throws `changes_pruned` when some after this number are gone. */
  hasChangesAfter(seq: number): Promise<boolean>;
}

export function createWebhookStore(database: Database): WebhookStore & DeliveryStore {
  const { names, read, commit, hasChangesAfter } = database;
  const { changes, delivery_nodes, deliveries, numbering, webhooks } = names.tables;
  const [lastNumber, record, trimmed] = [lastSeq(names.tables), recordText(names.tables), trimText(names.tables)];
  /** Since they were looked through, of each webhook. */
  const delivered = new Map<string, number>();

  return {
    async addWebhook({ id, url, events, secret, createdMs }) {
      const text = `
        INSERT INTO ${webhooks} (id, url, events, secret, created, position, waiting_since)
        VALUES ($1, $2, $3, $4, $5, (${lastNumber}), $5) RETURNING *`;
      return one(await commit({ text, values: [id, url, events.join(' '), secret, createdMs] }), id);
    },
    getWebhook,
    async listWebhooks() {
      return toWebhooks(await read({ text: `SELECT * FROM ${webhooks} ORDER BY created, id` }));
    },
    async removeWebhook(id) {
      one(await commit({ text: `DELETE FROM ${webhooks} WHERE id = $1 RETURNING *`, values: [id] }), id);
    },
    async rotateSecret(id, secret, oldUntilMs) {
      const text = `
        UPDATE ${webhooks} SET old_secret = secret, old_secret_until = $3, secret = $2 WHERE id = $1 RETURNING *`;
      return one(await commit({ text, values: [id, secret, oldUntilMs] }), id);
    },
    async enableWebhook(id, nowMs) {
      const text = `
        WITH enabled AS (
          UPDATE ${webhooks} SET disabled = NULL, failing_since = NULL, reason = NULL, epoch = epoch + 1, waiting_since = $2,
            position = greatest(position, pruned_to),
            replay_to = CASE WHEN replay_resume > pruned_to THEN replay_to END,
            replay_resume = CASE WHEN replay_resume > pruned_to THEN replay_resume END
          FROM ${numbering}
          WHERE id = $1 AND disabled IS NOT NULL RETURNING id
        )
        UPDATE ${deliveries} SET due = $2
        WHERE webhook_id = (SELECT id FROM enabled) AND status = 'waiting' AND due > $2`;
      await commit({ text, values: [id, nowMs] });
      return getWebhook(id);
    },
    async replay(id, { from, to = Number.MAX_SAFE_INTEGER }, nowMs) {
      await getWebhook(id);
      if (!(await hasChangesAfter(from - 1))) throw noSuchChange(from);
      const text = `
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
      await commit({ text, values: [id, from, to, nowMs] });
      return getWebhook(id);
    },
    async retryDelivery(id, seq, nowMs) {
      const text = `
        WITH told AS (
          UPDATE ${webhooks} w SET retries = retries + 1 FROM ${changes} c
          WHERE w.id = $1 AND c.seq = $2 AND c.type = ANY (string_to_array(w.events, ' ')) AND (
            c.seq <= coalesce(w.replay_resume, w.position)
            OR EXISTS (SELECT FROM ${deliveries} d WHERE d.webhook_id = w.id AND d.seq = c.seq)
          )
          RETURNING w.id, c.seq, c.plant_id
        ), retried AS (
          INSERT INTO ${deliveries} (webhook_id, seq, plant_id, status, attempts, due)
          SELECT id, seq, plant_id, 'waiting', 0, $3 FROM told
          ON CONFLICT (webhook_id, seq) DO UPDATE SET status = 'waiting', attempts = 0, due = excluded.due
          RETURNING *
        )
        SELECT r.*, c.type FROM retried r JOIN ${changes} c ON c.seq = r.seq`;
      const [row] = await commit({ text, values: [id, seq, nowMs] });
      if (row) return toDelivery(row as unknown as ListedRow);
      await getWebhook(id);
      throw toError(noDelivery(seq));
    },
    async listDeliveries(id, { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_LIMIT, status } = {}) {
      await getWebhook(id);
      const text = `
        SELECT d.*, c.type FROM ${deliveries} d JOIN ${changes} c ON c.seq = d.seq
        WHERE d.webhook_id = $1 AND d.seq < $2 ${status === undefined ? '' : `AND d.status = '${status}'`}
        ORDER BY d.seq DESC LIMIT $3`;
      const rows = await read({ text, values: [id, before, limit] });
      return (rows as unknown as ListedRow[]).map(toDelivery);
    },
    async oldestWaitingMs() {
      const text = `
        SELECT min(greatest(w.waiting_since, c.time)) AS time FROM ${webhooks} w JOIN ${changes} c ON c.seq IN (
          (SELECT min(seq) FROM ${changes} WHERE seq > w.position),
          (SELECT min(seq) FROM ${deliveries} d WHERE d.webhook_id = w.id AND d.status = 'waiting')
        )
        WHERE w.disabled IS NULL`;
      const [row] = await read({ text });
      return row?.time == null ? undefined : Number(row.time);
    },

    async claimWebhooks(node, leaseMs) {
      const text = `
        SELECT webhook, surplus, (${lastNumber}) AS last_seq FROM ${names.calls.claim_webhooks_2}`;
      const rows = (await commit({ text, values: [node, leaseMs] })) as unknown as ClaimedRow[];
      const webhooks = rows.map(({ webhook }) => JSON.parse(webhook));
      return {
        webhooks: toWebhooks(webhooks),
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
      const text = `SELECT * FROM ${deliveries} WHERE webhook_id = ANY ($1::text[]) AND status = 'waiting' ORDER BY seq`;
      return toOpenDeliveries((await read({ text, values: [toArray(ids)] })) as unknown as DeliveryRow[]);
    },
    async recordDeliveries(node, progress) {
      const records = progress.flatMap(({ id, records }) => records.map((record) => ({ id, ...record })));
      const states = progress.map(({ records: _, ...state }) => state);
      const rows = await commit({ text: record, values: [node, printJson(states), printJson(records)] });
      for (const { id } of records) delivered.set(id, (delivered.get(id) ?? 0) + 1);
      await trim();
      return rows.map(({ id }) => id as string);
    },
  };

  async function trim(): Promise<void> {
    const full = [...delivered].filter(([, count]) => count >= TRIM_EVERY).map(([id]) => id);
    if (full.length === 0) return;
    for (const id of full) delivered.delete(id);
    await commit({ text: trimmed, values: [toArray(full)] }).catch((error) => {
      if (!isUnavailable(error)) throw error; // or another time
    });
  }

  async function getWebhook(id: string): Promise<StoredWebhook> {
    return one(await read({ text: `SELECT * FROM ${webhooks} WHERE id = $1`, values: [id] }), id);
  }
}

interface ClaimedRow {
  /** As JSON. */
  webhook: string;
  surplus: number;
  last_seq: bigint;
}

type ListedRow = Parameters<typeof toDelivery>[0];

function toWebhooks(rows: Row[]): StoredWebhook[] {
  return (rows as unknown as WebhookRow[]).map(toWebhook);
}

function one(rows: Row[], id: string): StoredWebhook {
  const [webhook] = toWebhooks(rows);
  if (!webhook) throw toError(noWebhook(id));
  return webhook;
}

/** Only of webhooks that are still this node's, and that nobody has changed meanwhile. */
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
    INSERT INTO ${deliveries} (webhook_id, seq, plant_id, status, attempts, due, time, code, answer, error)
    SELECT w.id, seq, "plantId", status, attempts, "dueMs", "timeMs", code, answer, error
    FROM jsonb_to_recordset($3::jsonb) AS sent (
      id text, seq bigint, "plantId" bigint, status text, attempts integer, "dueMs" bigint, "timeMs" bigint, code integer,
      answer text, error text
    ) JOIN ${webhooks} w ON w.id = sent.id
    WHERE status = 'delivered' OR w.id IN (SELECT id FROM held)
    ON CONFLICT (webhook_id, seq) DO UPDATE SET status = excluded.status, attempts = excluded.attempts, due = excluded.due,
      time = excluded.time, code = excluded.code, answer = excluded.answer, error = excluded.error
    -- what somebody wants again, which has no attempts but was tried, stays so whatever becomes of an earlier attempt
    WHERE excluded.status = 'delivered' OR excluded.attempts <= 1 OR NOT (deliveries.attempts = 0 AND deliveries.time IS NOT NULL)
  )
  SELECT id FROM held`;

const trimText = ({ deliveries }: Tables) => `
  DELETE FROM ${deliveries} d USING unnest($1::text[]) AS full_one (id), LATERAL (
    SELECT seq FROM ${deliveries} e WHERE e.webhook_id = full_one.id AND e.status = 'delivered'
    ORDER BY seq DESC LIMIT 1 OFFSET ${KEPT_DELIVERED}
  ) AS oldest
  WHERE d.webhook_id = full_one.id AND d.status = 'delivered' AND d.seq <= oldest.seq`;
