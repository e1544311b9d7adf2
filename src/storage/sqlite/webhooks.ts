// Implements the store's methods for webhooks and deliveries, and their reads. Only one server uses a database file, so
// it claims all webhooks.

import type { DatabaseSync } from 'node:sqlite';
import type { DeliveryStatus } from '../../domain/names.ts';
import { DEFAULT_LIMIT } from '../../domain/page-size.ts';
import type { StoredWebhook } from '../../domain/webhook.ts';
import { type DeliveryStore, noSuchChange, type WebhookStore } from '../../domain/webhook-store.ts';
import {
  LISTED_COLUMNS,
  type ListedDeliveryRow,
  LOGGED_COLUMNS,
  type LoggedDeliveryRow,
  OPEN_COLUMNS,
  type OpenRow,
  toDelivery,
  toLoggedDelivery,
  toOpenDeliveries,
  toWebhook,
  type WebhookRow,
} from '../row-mapping.ts';
import { noDelivery, notListed, noWebhook, toError } from '../write-rules.ts';
import { prepareLastSeq } from './change-numbers.ts';
import type { ReadGuard } from './sqlite-errors.ts';
import { IS_WAITING, type WebhookResults, type WebhookWrite } from './webhooks-write.ts';

interface WebhookAccess {
  read: ReadGuard['read'];
  write<W extends WebhookWrite>(write: W): Promise<WebhookResults[W['kind']]>;
  /** True if a change after this number exists. Throws `changes_pruned` if changes after it are gone. */
  hasChangesAfter(seq: number): boolean;
}

export function createWebhookStore(db: DatabaseSync, access: WebhookAccess): WebhookStore & DeliveryStore {
  const { read, write, hasChangesAfter } = access;
  const lastSeq = prepareLastSeq(db);
  const { get, list, enabled, oldest, pending, open, one, logged, byStatus } = prepareWebhookReads(db);

  return {
    async addWebhook(webhook) {
      await write({ kind: 'add_webhook', webhook });
      return getWebhook(webhook.id);
    },
    getWebhook,
    async listWebhooks() {
      return read(() => list.all() as WebhookRow[]).map(toWebhook);
    },
    async removeWebhook(id) {
      await write({ kind: 'remove_webhook', id });
    },
    async rotateSecret(id, secret, oldUntilMs) {
      await write({ kind: 'rotate_secret', id, secret, oldUntilMs });
      return getWebhook(id);
    },
    async updateWebhook(id, fields, nowMs) {
      await write({ kind: 'update_webhook', id, fields, nowMs });
      return getWebhook(id);
    },
    async replay(id, range, nowMs) {
      await getWebhook(id);
      if (range.from > read(lastSeq) || !hasChangesAfter(range.from - 1)) throw noSuchChange(range.from);
      await write({ kind: 'replay', id, range, nowMs });
      return getWebhook(id);
    },
    async retryDelivery(id, seq, nowMs) {
      await write({ kind: 'retry_delivery', id, seq, nowMs });
      const row = read(() => one.get(id, seq) as ListedDeliveryRow | undefined);
      if (!row) throw toError(noDelivery(seq));
      return toDelivery(row);
    },
    async listDeliveries(id, { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_LIMIT, status } = {}) {
      await getWebhook(id);
      return read(() => byStatus[status ?? 'any'].all(id, before, limit) as ListedDeliveryRow[]).map(toDelivery);
    },
    async getDelivery(id, seq) {
      const row = read(() => logged.get(id, seq) as LoggedDeliveryRow | undefined);
      if (row) return toLoggedDelivery(row);
      await getWebhook(id);
      throw toError(notListed(seq));
    },
    async countPendingDeliveries() {
      return Number(read(() => pending.get() as { count: number | bigint }).count);
    },
    async oldestWaitingMs() {
      const { time } = read(() => oldest.get() as { time: number | null });
      return time ?? undefined;
    },

    async claimWebhooks() {
      return read(() => {
        const webhooks = (enabled.all() as WebhookRow[]).map(toWebhook);
        return { webhooks, surplus: 0, lastSeq: lastSeq() };
      });
    },
    async releaseWebhooks() {}, // no other server can claim them
    async openDeliveries(ids) {
      return toOpenDeliveries(read(() => ids.flatMap((id) => open.all(id) as OpenRow[])));
    },
    recordDeliveries(_node, progress) {
      return write({ kind: 'record_deliveries', progress });
    },
  };

  async function getWebhook(id: string): Promise<StoredWebhook> {
    const row = read(() => get.get(id) as WebhookRow | undefined);
    if (!row) throw toError(noWebhook(id));
    return toWebhook(row);
  }
}

function prepareWebhookReads(db: DatabaseSync) {
  const listed = (filter: string) =>
    db.prepare(`
      SELECT ${LISTED_COLUMNS} FROM deliveries d JOIN changes c ON c.seq = d.seq
      WHERE d.webhook_id = ? AND d.seq < ? ${filter} ORDER BY d.seq DESC LIMIT ?`);
  const byStatus: Record<DeliveryStatus | 'any', ReturnType<typeof listed>> = {
    any: listed(''),
    delivered: listed(`AND status = 'delivered'`),
    waiting: listed(`AND ${IS_WAITING}`),
    dead: listed(`AND status <> 'delivered' AND status = 'dead'`), // uses the same index as IS_WAITING
  };
  const open = db.prepare(`SELECT ${OPEN_COLUMNS} FROM deliveries WHERE webhook_id = ? AND ${IS_WAITING} ORDER BY seq`);
  const one = db.prepare(`
    SELECT ${LISTED_COLUMNS} FROM deliveries d JOIN changes c ON c.seq = d.seq WHERE d.webhook_id = ? AND d.seq = ?`);
  const logged = db.prepare(`
    SELECT ${LOGGED_COLUMNS} FROM deliveries d JOIN changes c ON c.seq = d.seq WHERE d.webhook_id = ? AND d.seq = ?`);
  for (const statement of [open, one, logged, ...Object.values(byStatus)]) statement.setReadBigInts(true);
  return {
    get: db.prepare('SELECT * FROM webhooks WHERE id = ?'),
    list: db.prepare('SELECT * FROM webhooks ORDER BY created, id'),
    enabled: db.prepare('SELECT * FROM webhooks WHERE disabled IS NULL ORDER BY id'),
    oldest: db.prepare(`
      SELECT min(max(w.waiting_since, c.time)) AS time FROM webhooks w JOIN changes c ON c.seq IN (
        (SELECT min(seq) FROM changes WHERE seq > w.position),
        (SELECT min(seq) FROM deliveries d WHERE d.webhook_id = w.id AND ${IS_WAITING})
      )
      WHERE w.disabled IS NULL`),
    pending: db.prepare(`
      SELECT count(*) AS count FROM webhooks w JOIN deliveries d ON d.webhook_id = w.id AND ${IS_WAITING}
      WHERE w.disabled IS NULL`),
    open,
    one,
    logged,
    byStatus,
  };
}
