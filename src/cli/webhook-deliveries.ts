// plant-store webhook deliveries | retry | replay: what became of each delivery, and sending changes again.

import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/names.ts';
import type { Delivery, StoredWebhook } from '../domain/webhook.ts';
import { printJson } from '../lib/exact-json.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext } from './command-io.ts';
import { withExistingStore } from './database-access.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { printList, report, wantsJson } from './terminal/report.ts';
import { timeToSecond, toTable } from './terminal/table.ts';

const MAX_LISTED = 1000;
export const WEBHOOK_ID = ['<id>', 'as "webhook list" shows it: whk_…'] as const;

export function declareDeliveries(webhook: CliCommand): void {
  webhook
    .subcommand('deliveries', 'show what became of each delivery, newest first')
    .argument(...WEBHOOK_ID)
    .addOption(
      new FixedOption('--status <status>', 'only those that are waiting, delivered or dead', DELIVERY_STATUSES),
    )
    .option('--limit <n>', 'at most so many, up to 1000', '100')
    .option('--before <seq>', 'only those of changes before this one')
    .option('--json', 'as JSON, which is the default when piped')
    .examples('plant-store webhook deliveries whk_…', 'plant-store webhook deliveries whk_… --status dead --json')
    .runs(listDeliveries);

  webhook
    .subcommand('retry', 'send a change again, whatever became of it')
    .argument(...WEBHOOK_ID)
    .argument('<seq>', 'number of the change, as "webhook deliveries" shows it')
    .examples('plant-store webhook retry whk_… 1042')
    .runs(retryDelivery);

  webhook
    .subcommand('replay', 'send a range of changes again; what is new comes after them')
    .argument(...WEBHOOK_ID)
    .requiredOption('--from <seq>', 'number of the first change (needed)')
    .option('--to <seq>', 'number of the last change (default: the newest)')
    .examples('plant-store webhook replay whk_… --from 1000 --to 2000', 'plant-store webhook replay whk_… --from 1')
    .runs(replayChanges);
}

async function listDeliveries(
  { io: { stdout }, config }: CommandContext,
  id: string,
  options: { json?: boolean; status?: string; limit: string; before?: string },
): Promise<void> {
  const limit = readNumber('--limit', options.limit, MAX_LISTED);
  const before = options.before === undefined ? undefined : readNumber('--before', options.before);
  const query = { status: readStatus(options.status), before, limit: limit + 1 };
  const found = await withExistingStore(config, (store) => store.listDeliveries(requireWebhookId(id), query));
  const deliveries = found.slice(0, limit);
  if (wantsJson(stdout, options)) return printList(stdout, deliveries);
  stdout.write(deliveries.length === 0 ? 'No deliveries\n' : toDeliveryTable(deliveries));
  if (found.length > limit) stdout.write(`There are more: add --before ${deliveries.at(-1)?.seq}\n`);
}

async function retryDelivery({ io: { stdout }, config }: CommandContext, id: string, seq: string): Promise<void> {
  const number = readNumber('The number of the change', seq);
  const [delivery, webhook] = await withExistingStore(config, async (store) => {
    return [await store.retryDelivery(requireWebhookId(id), number, Date.now()), await store.getWebhook(id)] as const;
  });
  stdout.write(stdout.isTTY ? `Change ${seq} is sent again${whenEnabled(webhook)}\n` : `${printJson(delivery)}\n`);
}

async function replayChanges(
  { io, config }: CommandContext,
  id: string,
  options: { from: string; to?: string },
): Promise<void> {
  const from = readNumber('--from', options.from);
  const to = options.to === undefined ? undefined : readNumber('--to', options.to);
  if (to !== undefined && to < from) throw new UsageError('--to must not be before --from');
  const webhook = await withExistingStore(config, (store) =>
    store.replay(requireWebhookId(id), { from, to }, Date.now()),
  );
  const { describeWebhook } = await import('../domain/webhook.ts');
  const words = `Changes ${from} to ${to ?? 'the newest'} are sent again${whenEnabled(webhook)}, then what is new`;
  report(io.stdout, words, describeWebhook(webhook, Date.now()));
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

export function requireWebhookId(id: string): string {
  if (/^whk_[0-9A-Za-z]+$/.test(id)) return id;
  throw new UsageError('An id begins with whk_: "webhook list" shows it');
}
