// Implements all writes to webhooks and their deliveries. Runs in the writer thread, which loads no schemas.

import type { DatabaseSync } from 'node:sqlite';
import { MAX_LOG_CHARS } from '../../domain/attempt-log.ts';
import type { Replay } from '../../domain/delivery.ts';
import { DISABLED_BY_USER } from '../../domain/names.ts';
import type { WebhookPatch } from '../../domain/webhook.ts';
import type { Progress, WantedWebhook } from '../../domain/webhook-store.ts';
import { KEPT_DELIVERED, TRIM_EVERY } from '../write-limits.ts';
import { noDelivery, noWebhook, type Rejection } from '../write-rules.ts';
import { prepareLastSeq } from './change-numbers.ts';

/** Condition for pending deliveries. Its first part lets SQLite use the index `undelivered`. */
export const IS_WAITING = `status <> 'delivered' AND status = 'waiting'`;

export type WebhookWrite =
  | { kind: 'add_webhook'; webhook: WantedWebhook }
  | { kind: 'remove_webhook'; id: string }
  | { kind: 'rotate_secret'; id: string; secret: string; oldUntilMs: number }
  | { kind: 'update_webhook'; id: string; fields: WebhookPatch; nowMs: number }
  | { kind: 'replay'; id: string; range: Replay; nowMs: number }
  | { kind: 'retry_delivery'; id: string; seq: number; nowMs: number }
  | { kind: 'record_deliveries'; progress: Progress[] };

/** Result of each kind of write. `record_deliveries` returns the ids of the webhooks whose progress was recorded. */
export type WebhookResults = Record<Exclude<WebhookWrite['kind'], 'record_deliveries'>, null> & {
  record_deliveries: string[];
};

type Result = { done: WebhookResults[keyof WebhookResults] } | Rejection;

/** Returns a function that applies a webhook write in the caller's transaction. */
export function prepareWebhookWrites(db: DatabaseSync): (write: WebhookWrite) => Result {
  const lastSeq = prepareLastSeq(db);
  const update = prepareUpdate(db);
  const insert = db.prepare(`
    INSERT INTO webhooks (id, url, events, format, name, secret, created, position, waiting_since)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?7)`);
  const remove = db.prepare('DELETE FROM webhooks WHERE id = ?');
  const removeDeliveries = db.prepare('DELETE FROM deliveries WHERE webhook_id = ?');
  const rotate = db.prepare(
    'UPDATE webhooks SET old_secret = secret, old_secret_until = ?3, secret = ?2 WHERE id = ?1',
  );
  const replay = db.prepare(`
    UPDATE webhooks SET position = min(position, ?2 - 1), epoch = epoch + 1, waiting_since = ?4,
      replay_to = iif(max(?3, coalesce(replay_to, 0)) >= coalesce(replay_resume, position), NULL, max(?3, coalesce(replay_to, 0))),
      replay_resume = iif(max(?3, coalesce(replay_to, 0)) >= coalesce(replay_resume, position), NULL, coalesce(replay_resume, position))
    WHERE id = ?1 AND ?2 <= coalesce(replay_resume, position)`);
  const removeWaiting = db.prepare(`
    DELETE FROM deliveries WHERE webhook_id = ? AND ${IS_WAITING} AND seq BETWEEN ? AND ?`);
  const retry = db.prepare(`
    INSERT INTO deliveries (webhook_id, seq, plant_id, status, attempts, due)
    SELECT w.id, c.seq, c.plant_id, 'waiting', 0, ?3 FROM webhooks w, changes c
    WHERE w.id = ?1 AND c.seq = ?2 AND (
      instr(' ' || w.events || ' ', ' ' || c.type || ' ') > 0 AND c.seq <= coalesce(w.replay_resume, w.position)
      OR EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id AND d.seq = c.seq)
    )
    ON CONFLICT DO UPDATE SET status = 'waiting', attempts = 0, due = excluded.due`);
  const countRetry = db.prepare('UPDATE webhooks SET retries = retries + 1 WHERE id = ?');
  const find = db.prepare('SELECT 1 FROM webhooks WHERE id = ?');
  const move = db.prepare(`
    UPDATE webhooks SET position = ?3, failing_since = ?4, reason = ?5, disabled = ?6,
      replay_to = iif(?3 > replay_to, NULL, replay_to), replay_resume = iif(?3 > replay_to, NULL, replay_resume)
    WHERE id = ?1 AND epoch = ?2 AND disabled IS NULL`);
  // A requested retry has 0 attempts and a time. The failure of an earlier attempt does not overwrite it.
  const record = db.prepare(`
    INSERT INTO deliveries (webhook_id, seq, plant_id, status, attempts, due, time, code, answer, error, attempt_log)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET status = excluded.status, attempts = excluded.attempts, due = excluded.due,
      time = excluded.time, code = excluded.code, answer = excluded.answer, error = excluded.error,
      attempt_log = substr(excluded.attempt_log || attempt_log, 1, ${MAX_LOG_CHARS})
    WHERE excluded.status = 'delivered' OR excluded.attempts <= 1 OR NOT (attempts = 0 AND time IS NOT NULL)`);
  const trim = db.prepare(`
    DELETE FROM deliveries WHERE webhook_id = ?1 AND status = 'delivered' AND seq <= (
      SELECT seq FROM deliveries WHERE webhook_id = ?1 AND status = 'delivered' ORDER BY seq DESC LIMIT 1 OFFSET ${KEPT_DELIVERED}
    )`);
  /** Number of recorded deliveries by webhook since the last trim. */
  const delivered = new Map<string, number>();

  return (write) => {
    switch (write.kind) {
      case 'add_webhook': {
        const { id, url, events, format = 'plant', name = null, secret, createdMs } = write.webhook;
        insert.run(id, url, events.join(' '), format, name, secret, createdMs, lastSeq());
        return { done: null };
      }
      case 'remove_webhook':
        removeDeliveries.run(write.id);
        return found(remove.run(write.id).changes, write.id);
      case 'rotate_secret':
        return found(rotate.run(write.id, write.secret, write.oldUntilMs).changes, write.id);
      case 'update_webhook':
        return update(write.id, write.fields, write.nowMs) ? { done: null } : noWebhook(write.id);
      case 'replay': {
        if (!find.get(write.id)) return noWebhook(write.id);
        const { from, to = Number.MAX_SAFE_INTEGER } = write.range;
        if (replay.run(write.id, from, to, write.nowMs).changes === 1n) removeWaiting.run(write.id, from, to);
        return { done: null };
      }
      case 'retry_delivery':
        if (!find.get(write.id)) return noWebhook(write.id);
        if (retry.run(write.id, write.seq, write.nowMs).changes === 0n) return noDelivery(write.seq);
        countRetry.run(write.id);
        return { done: null };
      case 'record_deliveries':
        return { done: write.progress.filter(recordOne).map(({ id }) => id) };
    }
  };

  function found(changes: number | bigint, id: string): Result {
    return changes === 0n ? noWebhook(id) : { done: null };
  }

  function recordOne({ id, epoch, position, failing, disabledMs, records }: Progress): boolean {
    const { sinceMs = null, reason = null } = failing ?? {};
    const isHeld = move.run(id, epoch, position, sinceMs, reason, disabledMs).changes === 1n;
    if (!isHeld && !find.get(id)) return false;
    for (const one of records) {
      if (!isHeld && one.status !== 'delivered') continue;
      const { seq, plantId, status, attempts, dueMs, timeMs, code, answer, error, attemptLog } = one;
      record.run(id, seq, plantId, status, attempts, dueMs, timeMs, code, answer, error, attemptLog);
    }
    const count = (delivered.get(id) ?? 0) + records.length;
    if (count >= TRIM_EVERY) trim.run(id);
    delivered.set(id, count >= TRIM_EVERY ? 0 : count);
    return isHeld;
  }
}

/** Returns a function that changes the given fields of a webhook. It returns false if the webhook does not exist. */
function prepareUpdate(db: DatabaseSync): (id: string, patch: WebhookPatch, nowMs: number) => boolean {
  const find = db.prepare('SELECT url, events, disabled FROM webhooks WHERE id = ?');
  const setFields = db.prepare(
    'UPDATE webhooks SET url = coalesce(?2, url), events = coalesce(?3, events), format = coalesce(?4, format) WHERE id = ?1',
  );
  const setName = db.prepare('UPDATE webhooks SET name = ?2 WHERE id = ?1');
  const disable = db.prepare('UPDATE webhooks SET disabled = ?2, failing_since = ?2, reason = ?3 WHERE id = ?1');
  const enable = db.prepare(`
    UPDATE webhooks SET disabled = NULL, waiting_since = ?2,
      position = max(position, (SELECT pruned_to FROM numbering)),
      replay_to = iif(replay_resume <= (SELECT pruned_to FROM numbering), NULL, replay_to),
      replay_resume = iif(replay_resume <= (SELECT pruned_to FROM numbering), NULL, replay_resume)
    WHERE id = ?1`);
  const forgetFailure = db.prepare(
    'UPDATE webhooks SET failing_since = NULL, reason = NULL WHERE id = ? AND disabled IS NULL',
  );
  const makeDue = db.prepare(`UPDATE deliveries SET due = ?2 WHERE webhook_id = ?1 AND ${IS_WAITING} AND due > ?2`);
  const startEpoch = db.prepare('UPDATE webhooks SET epoch = epoch + 1 WHERE id = ?');

  return (id, { url = null, events, format = null, name, enabled }, nowMs) => {
    const old = find.get(id) as { url: string; events: string; disabled: bigint | null } | undefined;
    if (!old) return false;
    const isMoved = (url ?? old.url) !== old.url;
    const isRefiltered = (events?.join(' ') ?? old.events) !== old.events;
    const isEnabled = enabled === true && old.disabled !== null;
    const isDisabled = enabled === false && old.disabled === null;
    setFields.run(id, url, events?.join(' ') ?? null, format);
    if (name !== undefined) setName.run(id, name);
    if (isEnabled) enable.run(id, nowMs);
    if (isDisabled) disable.run(id, nowMs, DISABLED_BY_USER);
    if (isEnabled || isMoved) {
      forgetFailure.run(id);
      makeDue.run(id, nowMs);
    }
    if (isMoved || isRefiltered || isEnabled || isDisabled) startEpoch.run(id);
    return true;
  };
}
