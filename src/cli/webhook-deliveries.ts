// The commands webhook deliveries, delivery, retry and replay, which show deliveries and repeat them.

import { OWN_COMMAND } from '../config/command-name.ts';
import { DELIVERY_STATUSES, type DeliveryStatus } from '../domain/names.ts';
import type { Webhook } from '../domain/webhook.ts';
import { UsageError } from '../lib/user-error.ts';
import type { StoreOptions } from './choose-store.ts';
import type { CommandContext } from './command-io.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { type FormOptions, printAll, printRows, report, writeWords } from './terminal/report.ts';
import { DELIVERY_COLUMNS, toDeliveryText } from './webhook-tables.ts';
import { WEBHOOK_ID, withWebhook } from './with-webhooks.ts';

const MAX_LISTED = 1000;
const SEQ = ['<seq>', 'number of the change (see "webhook deliveries")'] as const;

export function declareDeliveries(webhook: CliCommand): void {
  webhook
    .subcommand('deliveries', 'list deliveries with their status, newest first')
    .argument(...WEBHOOK_ID)
    .addOption(
      new FixedOption(
        '--status <status>',
        'only deliveries with this status: waiting, delivered or dead',
        DELIVERY_STATUSES,
      ),
    )
    .option('--limit <n>', `maximum number of deliveries, up to ${MAX_LISTED}`, '100')
    .option('--before <seq>', 'only deliveries of changes before this number')
    .storeOptions()
    .printsJsonOrTable('delivery')
    .examples('plant-store webhook deliveries whk_…', 'plant-store webhook deliveries whk_… --status dead | jq -r .seq')
    .runs(listDeliveries);

  webhook
    .subcommand('delivery', 'show a delivery: its request as sent, and its attempts')
    .argument(...WEBHOOK_ID)
    .argument(...SEQ)
    .storeOptions()
    .printsJsonOrTable()
    .examples('plant-store webhook delivery whk_… 1042')
    .runs(showDelivery);

  webhook
    .subcommand('retry', 'deliver a change again, regardless of its status')
    .argument(...WEBHOOK_ID)
    .argument(...SEQ)
    .storeOptions()
    .examples('plant-store webhook retry whk_… 1042')
    .runs(retryDelivery);

  webhook
    .subcommand('replay', 'deliver a range of changes again, before any new changes')
    .argument(...WEBHOOK_ID)
    .requiredOption('--from <seq>', 'number of the first change (required)')
    .option('--to <seq>', 'number of the last change (default: the newest)')
    .storeOptions()
    .examples('plant-store webhook replay whk_… --from 1000 --to 2000', 'plant-store webhook replay whk_… --from 1')
    .runs(replayChanges);
}

async function listDeliveries(
  context: CommandContext,
  id: string,
  options: StoreOptions & FormOptions & { status?: string; limit: string; before?: string },
): Promise<void> {
  const { stdout, stderr } = context.io;
  const limit = readNumber('--limit', options.limit, MAX_LISTED);
  const before = options.before === undefined ? undefined : readNumber('--before', options.before);
  const status = readStatus(options.status);
  await withWebhook(context, id, options, async (webhooks) => {
    const deliveries = await webhooks.deliveries(id, { status, before, limit });
    await printRows(stdout, options, deliveries, { columns: DELIVERY_COLUMNS, ifEmpty: 'No deliveries found.' });
    if (stdout.isTTY && !options.json && deliveries.some(({ error }) => error !== undefined)) {
      writeWords(stderr, `For the whole error and the request, run "${OWN_COMMAND} webhook delivery ${id} CHANGE".`);
    }
    const last = deliveries.at(-1);
    if (last === undefined || deliveries.length < limit) return;
    const next = await webhooks.deliveries(id, { status, before: last.seq, limit: 1 });
    if (next.length > 0) stderr.write(`More deliveries match. Use --before ${last.seq} or a larger --limit.\n`);
  });
}

async function showDelivery(
  context: CommandContext,
  id: string,
  seq: string,
  options: StoreOptions & FormOptions,
): Promise<void> {
  const { stdout } = context.io;
  const number = readNumber('<seq>', seq);
  await withWebhook(context, id, options, async (webhooks) => {
    const delivery = await webhooks.delivery(id, number);
    await printAll(stdout, options, [delivery], () => toDeliveryText(delivery, stdout));
  });
}

async function retryDelivery(context: CommandContext, id: string, seq: string, options: StoreOptions): Promise<void> {
  const { stdout } = context.io;
  const number = readNumber('<seq>', seq);
  await withWebhook(context, id, options, async (webhooks) => {
    const delivery = await webhooks.retry(id, number);
    const words = `Change ${seq} is queued for delivery.${enableHint(await webhooks.get(id))}`;
    report(stdout, words, delivery);
  });
}

async function replayChanges(
  context: CommandContext,
  id: string,
  options: StoreOptions & { from: string; to?: string },
): Promise<void> {
  const from = readNumber('--from', options.from);
  const to = options.to === undefined ? undefined : readNumber('--to', options.to);
  if (to !== undefined && to < from) throw new UsageError('--to must not be less than --from');
  await withWebhook(context, id, options, async (webhooks) => {
    const webhook = await webhooks.replay(id, { from, to });
    const range = to === undefined ? `Changes from ${from}` : `Changes ${from} to ${to}`;
    const words = `${range} are queued for delivery. New changes follow them.${enableHint(webhook)}`;
    report(context.io.stdout, words, webhook);
  });
}

function enableHint({ id, status }: Webhook): string {
  return status === 'disabled'
    ? ` The webhook is disabled. To deliver, run "${OWN_COMMAND} webhook enable ${id}".`
    : '';
}

function readStatus(text: string | undefined): DeliveryStatus | undefined {
  const known = DELIVERY_STATUSES.find((status) => status === text);
  if (known || text === undefined) return known;
  throw new UsageError(`--status must be one of ${DELIVERY_STATUSES.join(', ')}, not "${text}"`);
}

function readNumber(name: string, text: string, max = Number.MAX_SAFE_INTEGER): number {
  const number = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : Number.NaN;
  if (number <= max) return number;
  throw new UsageError(`${name} must be an integer from 1 to ${max}, not "${text}"`);
}
