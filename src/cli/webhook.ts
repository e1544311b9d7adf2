// plant-store webhook …, straight on the database; a running server goes by it within a second.

import type { Config } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import { CHANGE_TYPES, type ChangeType, DELIVERY_STATUSES, type DeliveryStatus } from '../domain/names.ts';
import type { Store } from '../domain/store.ts';
import {
  DEFAULT_EVENTS,
  type Delivery,
  describeWebhook,
  mintWebhookId,
  OLD_SECRET_MS,
  type StoredWebhook,
  type Webhook,
} from '../domain/webhook.ts';
import { printJson } from '../lib/exact-json.ts';
import { UsageError } from '../lib/user-error.ts';
import { createReceiverClient, toTestResult } from '../webhooks/receiver-client.ts';
import { mintWebhookSecret, toTestMessage } from '../webhooks/signed-message.ts';
import { createTargetGuard } from '../webhooks/target-guard.ts';
import { requireDatabase, withStore } from './database-access.ts';
import { printList, report, wantsJson } from './terminal/report.ts';
import { shortTime, timeToSecond, toTable } from './terminal/table.ts';

const MAX_LISTED = 1000;

export async function addWebhook(config: Config, url: string, options: { events?: string }): Promise<void> {
  const events = readEvents(options.events);
  const target = await createTargetGuard({ allowPrivate: config.allowPrivateWebhooks })
    .check(url)
    .catch((error: Error) => {
      throw error instanceof PlantStoreError ? new UsageError(error.message) : error;
    });
  const secret = mintWebhookSecret();
  const wanted = { id: mintWebhookId(), url: target, events, secret, createdMs: Date.now() };
  const webhook = await inStore(config, (store) => store.addWebhook(wanted));
  reportSecret(`${webhook.id} is told of ${events.join(', ')} from now on`, described(webhook), secret);
}

export async function listWebhooks(config: Config, options: { json?: boolean }): Promise<void> {
  const webhooks = await inStore(config, (store) => store.listWebhooks());
  const shown = webhooks.map(described);
  if (wantsJson(options)) return printList(shown);
  if (shown.length === 0) {
    process.stdout.write('No webhooks yet: "webhook add URL" makes one\n');
    return;
  }
  process.stdout.write(
    toTable(
      ['ID', 'URL', 'EVENTS', 'STATUS', 'SINCE', 'POSITION', 'REASON'],
      shown.map(({ id, url, events, status, since, position, reason }) => {
        return [id, url, events.join(','), status, shortTime(since, '-'), String(position), reason ?? ''];
      }),
    ),
  );
}

export async function removeWebhook(config: Config, id: string): Promise<void> {
  await inStore(config, (store) => store.removeWebhook(requireId(id)));
  if (process.stderr.isTTY) process.stderr.write(`Webhook ${id} is removed\n`);
}

export async function rotateSecret(config: Config, id: string): Promise<void> {
  const secret = mintWebhookSecret();
  const webhook = await inStore(config, (store) =>
    store.rotateSecret(requireId(id), secret, Date.now() + OLD_SECRET_MS),
  );
  reportSecret('For 24 hours everything is signed with the old secret, too', described(webhook), secret);
}

export async function enableWebhook(config: Config, id: string): Promise<void> {
  const [before, webhook] = await inStore(config, async (store) => {
    return [await store.getWebhook(requireId(id)), await store.enableWebhook(id, Date.now())] as const;
  });
  const words = before.disabledMs === null ? 'was not disabled, and' : '';
  report(`Webhook ${id} ${words} goes on after change ${webhook.position}`.replace('  ', ' '), described(webhook));
}

export async function listDeliveries(
  config: Config,
  id: string,
  options: { json?: boolean; status?: string; limit: string; before?: string },
): Promise<void> {
  const limit = readNumber('--limit', options.limit, MAX_LISTED);
  const before = options.before === undefined ? undefined : readNumber('--before', options.before);
  const query = { status: readStatus(options.status), before, limit: limit + 1 };
  const found = await inStore(config, (store) => store.listDeliveries(requireId(id), query));
  const deliveries = found.slice(0, limit);
  if (wantsJson(options)) return printList(deliveries);
  process.stdout.write(deliveries.length === 0 ? 'No deliveries\n' : toDeliveryTable(deliveries));
  if (found.length > limit) process.stdout.write(`There are more: add --before ${deliveries.at(-1)?.seq}\n`);
}

export async function retryDelivery(config: Config, id: string, seq: string): Promise<void> {
  const number = readNumber('The number of the change', seq);
  const [delivery, webhook] = await inStore(config, async (store) => {
    return [await store.retryDelivery(requireId(id), number, Date.now()), await store.getWebhook(id)] as const;
  });
  if (process.stdout.isTTY) process.stdout.write(`Change ${seq} is sent again${whenEnabled(webhook)}\n`);
  else process.stdout.write(`${printJson(delivery)}\n`);
}

export async function replayChanges(config: Config, id: string, options: { from: string; to?: string }): Promise<void> {
  const from = readNumber('--from', options.from);
  const to = options.to === undefined ? undefined : readNumber('--to', options.to);
  if (to !== undefined && to < from) throw new UsageError('--to must not be before --from');
  const webhook = await inStore(config, (store) => store.replay(requireId(id), { from, to }, Date.now()));
  const words = `Changes ${from} to ${to ?? 'the newest'} are sent again${whenEnabled(webhook)}, then what is new`;
  report(words, described(webhook));
}

/** Exit status 1 when it was not delivered. */
export async function testWebhook(config: Config, id: string): Promise<void> {
  const webhook = await inStore(config, (store) => store.getWebhook(requireId(id)));
  const targetGuard = createTargetGuard({ allowPrivate: config.allowPrivateWebhooks });
  const receiverClient = createReceiverClient(targetGuard, (error) => {
    throw error;
  });
  const result = toTestResult(await receiverClient.post(webhook.url, toTestMessage(webhook, Date.now())));
  receiverClient.close();
  const { delivered, code, error, answer = '', milliseconds } = result;
  const words = delivered ? `Delivered: ${code} after ${milliseconds} ms` : `Not delivered: ${error}`;
  report(answer === '' ? words : `${words}\n${answer}`, result);
  if (!delivered) process.exitCode = 1;
}

async function inStore<T>(config: Config, work: (store: Store) => Promise<T>): Promise<T> {
  requireDatabase(config);
  return withStore(config, work);
}

function reportSecret(words: string, webhook: Webhook, secret: string): void {
  report(`${secret}\n${words}\nThe secret above is shown only now, so keep it`, { ...webhook, secret });
}

function described(webhook: StoredWebhook): Webhook {
  return describeWebhook(webhook, Date.now());
}

function whenEnabled({ disabledMs }: StoredWebhook): string {
  return disabledMs === null ? '' : ' when the webhook is enabled';
}

function toDeliveryTable(deliveries: Delivery[]): string {
  return toTable(
    ['CHANGE', 'EVENT', 'PLANT', 'STATUS', 'ATTEMPTS', 'LAST', 'NEXT', 'CODE', 'ERROR'],
    deliveries.map(({ seq, event, plant, status, attempts, time, next, code, error }) => [
      String(seq),
      event,
      String(plant),
      status,
      String(attempts),
      timeToSecond(time),
      timeToSecond(next),
      code === undefined ? '-' : String(code),
      error ?? '',
    ]),
  );
}

function requireId(id: string): string {
  if (/^whk_[0-9A-Za-z]+$/.test(id)) return id;
  throw new UsageError('An id begins with whk_: "webhook list" shows it');
}

function readEvents(text: string | undefined): ChangeType[] {
  if (text === undefined) return DEFAULT_EVENTS;
  if (text === 'all') return [...CHANGE_TYPES];
  const wanted = text.split(',').map((event) => event.trim());
  for (const event of wanted) {
    if (!CHANGE_TYPES.some((known) => known === event)) {
      throw new UsageError(`--events takes all, or ${CHANGE_TYPES.join(', ')}, separated by commas, not "${event}"`);
    }
  }
  return CHANGE_TYPES.filter((type) => wanted.includes(type));
}

function readStatus(text: string | undefined): DeliveryStatus | undefined {
  const known = DELIVERY_STATUSES.find((status) => status === text);
  if (known || text === undefined) return known;
  throw new UsageError(`--status takes ${DELIVERY_STATUSES.join(', ')}, not "${text}"`);
}

function readNumber(what: string, text: string, max = Number.MAX_SAFE_INTEGER): number {
  const number = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= max) return number;
  throw new UsageError(`${what} must be a number from 1 to ${max}, not "${text}"`);
}
