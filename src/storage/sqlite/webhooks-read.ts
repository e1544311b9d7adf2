// Every read of webhooks and their deliveries. As one server uses a file, all webhooks are its own.

import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { DEFAULT_LIMIT } from '../../domain/page-size.ts';
import type { Claim, Delivery, DeliveryQuery, OpenDelivery, StoredWebhook } from '../../domain/webhook.ts';
import { type DeliveryRow, toDelivery, toOpenDeliveries, toWebhook, type WebhookRow } from '../row-mapping.ts';
import { prepareLastSeq } from './change-numbers.ts';

export function prepareWebhookReads(db: DatabaseSync) {
  const lastSeq = prepareLastSeq(db);
  const get = db.prepare('SELECT * FROM webhooks WHERE id = ?');
  const list = db.prepare('SELECT * FROM webhooks ORDER BY created, id');
  const enabled = db.prepare('SELECT * FROM webhooks WHERE disabled IS NULL ORDER BY id');
  const open = db.prepare(`
    SELECT * FROM deliveries WHERE webhook_id = ? AND status <> 'delivered' AND status = 'waiting' ORDER BY seq`);
  const one = db.prepare(`
    SELECT d.*, c.type FROM deliveries d JOIN changes c ON c.seq = d.seq WHERE d.webhook_id = ? AND d.seq = ?`);
  const oldest = db.prepare(`
    SELECT min(max(w.waiting_since, c.time)) AS time FROM webhooks w JOIN changes c ON c.seq IN (
      (SELECT min(seq) FROM changes WHERE seq > w.position),
      (SELECT min(seq) FROM deliveries d WHERE d.webhook_id = w.id AND d.status <> 'delivered' AND d.status = 'waiting')
    )
    WHERE w.disabled IS NULL`);
  const byStatus = {
    any: prepareList(''),
    delivered: prepareList(`AND d.status = 'delivered'`),
    waiting: prepareList(`AND d.status <> 'delivered' AND d.status = 'waiting'`),
    dead: prepareList(`AND d.status <> 'delivered' AND d.status = 'dead'`),
  };
  for (const statement of [open, one, ...Object.values(byStatus)]) statement.setReadBigInts(true);

  return {
    getWebhook(id: string): StoredWebhook | undefined {
      const row = get.get(id) as WebhookRow | undefined;
      return row && toWebhook(row);
    },
    listWebhooks: (): StoredWebhook[] => (list.all() as unknown as WebhookRow[]).map(toWebhook),
    claimWebhooks(): Claim {
      const webhooks = (enabled.all() as unknown as WebhookRow[]).map(toWebhook);
      return { webhooks, surplus: 0, lastSeq: lastSeq() };
    },
    openDeliveries(ids: string[]): Map<string, OpenDelivery[]> {
      return toOpenDeliveries(ids.flatMap((id) => rows<DeliveryRow>(open.all(id))));
    },
    getDelivery(id: string, seq: number): Delivery | undefined {
      const [row] = rows<Parameters<typeof toDelivery>[0]>(one.all(id, seq));
      return row && toDelivery(row);
    },
    listDeliveries(
      id: string,
      { before = Number.MAX_SAFE_INTEGER, limit = DEFAULT_LIMIT, status }: DeliveryQuery,
    ): Delivery[] {
      const listed = byStatus[status ?? 'any'].all(id, before, limit);
      return rows<Parameters<typeof toDelivery>[0]>(listed).map(toDelivery);
    },
    oldestWaitingMs(): number | undefined {
      const { time } = oldest.get() as { time: number | null };
      return time ?? undefined;
    },
  };

  function prepareList(filter: string) {
    return db.prepare(`
      SELECT d.*, c.type FROM deliveries d JOIN changes c ON c.seq = d.seq
      WHERE d.webhook_id = ? AND d.seq < ? ${filter} ORDER BY d.seq DESC LIMIT ?`);
  }
}

function rows<T>(all: Record<string, SQLInputValue>[]): T[] {
  return all as unknown as T[];
}
