// The commands webhook add, list, update, remove, rotate, enable, disable and test, on a server or on a database. Running
// servers apply the changes within 1 s.

import { OWN_COMMAND } from '../config/command-name.ts';
import { CHANGE_TYPES, type ChangeType, WEBHOOK_FORMATS, type WebhookFormat } from '../domain/names.ts';
import type { WebhookPatch, WebhookWithSecret } from '../domain/webhook.ts';
import { UsageError } from '../lib/user-error.ts';
import type { StoreOptions } from './choose-store.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { EXIT_STATUS } from './exit-status.ts';
import { readList } from './parse-arguments.ts';
import { type FormOptions, printRows, printSecret, report, toReport } from './terminal/report.ts';
import { declareDeliveries } from './webhook-deliveries.ts';
import { WEBHOOK_COLUMNS } from './webhook-tables.ts';
import { WEBHOOK_ID, withWebhook, withWebhooks } from './with-webhooks.ts';

const FORMAT = 'body of the messages: plant, or event, which has the type and the change';

export function declareWebhook(webhook: CliCommand): void {
  webhook.examples('plant-store webhook add https://shop.example.com/plants', 'plant-store webhook deliveries whk_…');

  webhook
    .subcommand('add', 'add a webhook and print its secret, which is shown only once')
    .argument('<url>', 'URL of the receiver, https://…; see also WEBHOOK_ALLOW_PRIVATE')
    .addOption(eventsOption().default('plant.created'))
    .addOption(new FixedOption('--format <format>', FORMAT, WEBHOOK_FORMATS).default('plant'))
    .option('--name <name>', 'name of the webhook, such as its receiver')
    .storeOptions()
    .notes(`
From now on, each change is sent to the receiver with POST, signed according to
Standard Webhooks 1.0. Failed deliveries are retried for three days. The
receiver verifies the signature with the secret.`)
    .examples(
      'plant-store webhook add https://shop.example.com/plants',
      'plant-store webhook add https://shop.example.com/plants --events all --format event --name shop',
      'WEBHOOK_ALLOW_PRIVATE=1 plant-store webhook add http://127.0.0.1:8080/',
    )
    .runs(addWebhook);

  webhook
    .subcommand('list', 'list all webhooks, without their secrets')
    .storeOptions()
    .printsJsonOrTable('webhook')
    .examples('plant-store webhook list', 'plant-store webhook list | jq -r .url')
    .runs(listWebhooks);

  webhook
    .subcommand('update', 'change the URL, events, format or name of a webhook')
    .argument(...WEBHOOK_ID)
    .option('--url <url>', 'new URL of the receiver')
    .addOption(eventsOption())
    .addOption(new FixedOption('--format <format>', FORMAT, WEBHOOK_FORMATS))
    .option('--name <name>', 'new name; an empty name removes it')
    .storeOptions({ hasUrl: false })
    .notes(`
New events apply to all changes after the position of the webhook. After a new
URL, pending deliveries are sent to it at once.`)
    .examples(
      'plant-store webhook update whk_… --url https://shop.example.com/new',
      'plant-store webhook update whk_… --events plant.created,plant.deleted --format event',
    )
    .runs(updateWebhook);

  webhook
    .subcommand('remove', 'remove a webhook and the history of its deliveries')
    .argument(...WEBHOOK_ID)
    .storeOptions()
    .examples('plant-store webhook remove whk_…')
    .runs(removeWebhook);

  webhook
    .subcommand('rotate', 'create a new secret; the old one also signs for 24 hours')
    .argument(...WEBHOOK_ID)
    .storeOptions()
    .examples('plant-store webhook rotate whk_…')
    .runs(rotateSecret);

  webhook
    .subcommand('enable', 'enable a disabled webhook and deliver its pending changes')
    .argument(...WEBHOOK_ID)
    .storeOptions()
    .examples('plant-store webhook enable whk_…')
    .runs(enableWebhook);

  webhook
    .subcommand('disable', 'disable a webhook; changes stay pending until it is enabled')
    .argument(...WEBHOOK_ID)
    .storeOptions()
    .examples('plant-store webhook disable whk_…')
    .runs(disableWebhook);

  declareDeliveries(webhook);

  webhook
    .subcommand('test', 'send a test message and print the result')
    .argument(...WEBHOOK_ID)
    .storeOptions()
    .notes(`
A server sends the message itself. With the database, this command sends it,
with the settings of this terminal: a server can be in another network, or
have another WEBHOOK_ALLOW_PRIVATE. The exit status is 1 if the message was
not delivered.`)
    .examples('plant-store webhook test whk_…')
    .runs(testWebhook);
}

function eventsOption(): FixedOption {
  const description = 'any of plant.created, plant.updated and plant.deleted, or all';
  return new FixedOption('--events <list>', description, [...CHANGE_TYPES, 'all'], { isList: true });
}

async function addWebhook(
  context: CommandContext,
  url: string,
  options: StoreOptions & { events: string; format: string; name?: string },
): Promise<void> {
  const events = readEvents(options.events);
  const format = readFormat(options.format);
  const name = options.name === undefined ? undefined : await readName(options.name);
  await withWebhooks(context, options, async (webhooks) => {
    const webhook = await webhooks.create({ url, events, format, ...(name !== undefined && { name }) });
    const words = `Webhook ${webhook.id} added for ${events.join(', ')}. Deliveries start with the next change.`;
    await reportSecret(context.io, words, webhook);
  });
}

async function listWebhooks(context: CommandContext, options: StoreOptions & FormOptions): Promise<void> {
  const ifEmpty = `No webhooks. Add one with "${OWN_COMMAND} webhook add URL".`;
  await withWebhooks(context, options, async (webhooks) => {
    await printRows(context.io.stdout, options, await webhooks.list(), { columns: WEBHOOK_COLUMNS, ifEmpty });
  });
}

async function updateWebhook(
  context: CommandContext,
  id: string,
  options: StoreOptions & { events?: string; format?: string; name?: string },
): Promise<void> {
  const { url, events, format, name, ...storeOptions } = options;
  const patch: WebhookPatch = {
    ...(events !== undefined && { events: readEvents(events) }),
    ...(format !== undefined && { format: readFormat(format) }),
    ...(name !== undefined && { name: name === '' ? null : await readName(name) }),
    ...(url !== undefined && { url }),
  };
  if (Object.keys(patch).length === 0)
    throw new UsageError('Nothing to change. Add --url, --events, --format or --name.');
  await withWebhook(context, id, storeOptions, async (webhooks) => {
    const webhook = await webhooks.update(id, patch);
    const words = `Webhook ${id} sends ${webhook.events.join(', ')} to ${webhook.url} in the format ${webhook.format}.`;
    report(context.io.stdout, words, webhook);
  });
}

async function removeWebhook(context: CommandContext, id: string, options: StoreOptions): Promise<void> {
  await withWebhook(context, id, options, (webhooks) => webhooks.delete(id));
  if (context.io.stderr.isTTY) context.io.stderr.write(`Webhook ${id} removed.\n`);
}

async function rotateSecret(context: CommandContext, id: string, options: StoreOptions): Promise<void> {
  await withWebhook(context, id, options, async (webhooks) => {
    const words = `Secret of webhook ${id} rotated. For 24 hours, the old secret also signs each delivery.`;
    await reportSecret(context.io, words, await webhooks.rotate(id));
  });
}

async function enableWebhook(context: CommandContext, id: string, options: StoreOptions): Promise<void> {
  await withWebhook(context, id, options, async (webhooks) => {
    const before = await webhooks.get(id);
    const webhook = await webhooks.update(id, { enabled: true });
    const words =
      before.status === 'disabled'
        ? `Webhook ${id} enabled. Pending changes after ${webhook.position} will be delivered.`
        : `Webhook ${id} was already enabled. Its last processed change is ${webhook.position}.`;
    report(context.io.stdout, words, webhook);
  });
}

async function disableWebhook(context: CommandContext, id: string, options: StoreOptions): Promise<void> {
  await withWebhook(context, id, options, async (webhooks) => {
    const webhook = await webhooks.update(id, { enabled: false });
    const words = `Webhook ${id} is disabled. To deliver the changes after ${webhook.position}, run "${OWN_COMMAND} webhook enable ${id}".`;
    report(context.io.stdout, words, webhook);
  });
}

async function testWebhook(context: CommandContext, id: string, options: StoreOptions): Promise<void> {
  const { io } = context;
  await withWebhook(context, id, options, async (webhooks, sender) => {
    const result = await webhooks.test(id);
    const { delivered, code, error, answer = '', milliseconds } = result;
    const words = delivered
      ? `Delivered ${sender}. The receiver returned ${code} after ${milliseconds} ms.`
      : `Not delivered: ${error}`;
    report(io.stdout, answer === '' ? words : `${words}\n${answer}`, result);
    if (!delivered) io.exitCode = EXIT_STATUS.failed;
  });
}

async function reportSecret(io: CommandIo, words: string, webhook: WebhookWithSecret): Promise<void> {
  const text = `${webhook.secret}\n${words}\nThe secret above is shown only once. Store it now.`;
  await printSecret(io, toReport(io.stdout, text, webhook), `webhook rotate ${webhook.id}`);
}

function readEvents(text: string): ChangeType[] {
  return text === 'all'
    ? [...CHANGE_TYPES]
    : readList('--events', text, CHANGE_TYPES, `all, or ${CHANGE_TYPES.join(', ')}`);
}

function readFormat(text: string): WebhookFormat {
  const known = WEBHOOK_FORMATS.find((format) => format === text);
  if (known) return known;
  throw new UsageError(`--format must be ${WEBHOOK_FORMATS.join(' or ')}, not "${text}"`);
}

async function readName(text: string): Promise<string> {
  const { isTokenName, NAME_FORM } = await import('../domain/token.ts'); // names of webhooks have the same form
  if (isTokenName(text)) return text;
  throw new UsageError(`--name must have ${NAME_FORM}`);
}
