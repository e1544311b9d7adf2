// The commands webhook add, list, update, remove, rotate, enable, disable and test. They change the database. A running server applies
// the changes within 1 s.

import { OWN_COMMAND } from '../config/command-name.ts';
import type { Config } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import { CHANGE_TYPES, type ChangeType, WEBHOOK_FORMATS, type WebhookFormat } from '../domain/names.ts';
import type { StoredWebhook, Webhook, WebhookPatch } from '../domain/webhook.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { withExistingStore } from './database-access.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { readList } from './parse-arguments.ts';
import { type FormOptions, printRows, report } from './terminal/report.ts';
import { declareDeliveries, requireWebhookId, WEBHOOK_ID } from './webhook-deliveries.ts';
import { WEBHOOK_COLUMNS } from './webhook-tables.ts';

const FORMAT = 'body of the messages: plant, or event, which has the type and the change';

export function declareWebhook(webhook: CliCommand): void {
  webhook.examples('plant-store webhook add https://shop.example.com/plants', 'plant-store webhook deliveries whk_…');

  webhook
    .subcommand('add', 'add a webhook and print its secret, which is shown only once')
    .argument('<url>', 'URL of the receiver, https://…; see also WEBHOOK_ALLOW_PRIVATE')
    .addOption(eventsOption().default('plant.created'))
    .addOption(new FixedOption('--format <format>', FORMAT, WEBHOOK_FORMATS).default('plant'))
    .option('--name <name>', 'name of the webhook, such as its receiver')
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
    .examples('plant-store webhook remove whk_…')
    .runs(removeWebhook);

  webhook
    .subcommand('rotate', 'create a new secret; the old one also signs for 24 hours')
    .argument(...WEBHOOK_ID)
    .examples('plant-store webhook rotate whk_…')
    .runs(rotateSecret);

  webhook
    .subcommand('enable', 'enable a disabled webhook and deliver its pending changes')
    .argument(...WEBHOOK_ID)
    .examples('plant-store webhook enable whk_…')
    .runs(enableWebhook);

  webhook
    .subcommand('disable', 'disable a webhook; changes stay pending until it is enabled')
    .argument(...WEBHOOK_ID)
    .examples('plant-store webhook disable whk_…')
    .runs(disableWebhook);

  declareDeliveries(webhook);

  webhook
    .subcommand('test', 'send a test message and print the result')
    .argument(...WEBHOOK_ID)
    .notes(`
The message is sent by this command, with the settings of this terminal. A
server can be in another network, or have another WEBHOOK_ALLOW_PRIVATE. The
exit status is 1 if the message was not delivered.`)
    .examples('plant-store webhook test whk_…')
    .runs(testWebhook);
}

function eventsOption(): FixedOption {
  const description = 'any of plant.created, plant.updated and plant.deleted, or all';
  return new FixedOption('--events <list>', description, [...CHANGE_TYPES, 'all'], { isList: true });
}

async function addWebhook(
  { io, config }: CommandContext,
  given: string,
  options: { events: string; format: string; name?: string },
): Promise<void> {
  const events = readEvents(options.events);
  const format = readFormat(options.format);
  const name = options.name === undefined ? null : await readName(options.name);
  const [{ mintWebhookSecret }, { mintWebhookId }] = await Promise.all([
    import('../webhooks/signed-message.ts'),
    import('../domain/webhook.ts'),
  ]);
  const url = await checkTarget(given, config);
  const secret = mintWebhookSecret();
  const wanted = { id: mintWebhookId(), url, events, format, name, secret, createdMs: Date.now() };
  const webhook = await withExistingStore(config, (store) => store.addWebhook(wanted));
  const words = `Webhook ${webhook.id} added for ${events.join(', ')}. Deliveries start with the next change.`;
  await reportSecret(io, words, webhook, secret);
}

async function listWebhooks({ io, config }: CommandContext, options: FormOptions): Promise<void> {
  const webhooks = await withExistingStore(config, (store) => store.listWebhooks());
  const shown = await Promise.all(webhooks.map(describe));
  const ifEmpty = `No webhooks. Add one with "${OWN_COMMAND} webhook add URL".`;
  await printRows(io.stdout, options, shown, { columns: WEBHOOK_COLUMNS, ifEmpty });
}

async function updateWebhook(
  { io, config }: CommandContext,
  id: string,
  options: { url?: string; events?: string; format?: string; name?: string },
): Promise<void> {
  const { url, events, format, name } = options;
  const patch: WebhookPatch = {
    ...(events !== undefined && { events: readEvents(events) }),
    ...(format !== undefined && { format: readFormat(format) }),
    ...(name !== undefined && { name: name === '' ? null : await readName(name) }),
    ...(url !== undefined && { url: await checkTarget(url, config) }),
  };
  if (Object.keys(patch).length === 0)
    throw new UsageError('Nothing to change. Add --url, --events, --format or --name.');
  const webhook = await withExistingStore(config, (store) =>
    store.updateWebhook(requireWebhookId(id), patch, Date.now()),
  );
  const words = `Webhook ${id} sends ${webhook.events.join(', ')} to ${webhook.url} in the format ${webhook.format}.`;
  report(io.stdout, words, await describe(webhook));
}

async function removeWebhook({ io, config }: CommandContext, id: string): Promise<void> {
  await withExistingStore(config, (store) => store.removeWebhook(requireWebhookId(id)));
  if (io.stderr.isTTY) io.stderr.write(`Webhook ${id} removed.\n`);
}

async function rotateSecret({ io, config }: CommandContext, id: string): Promise<void> {
  const [{ mintWebhookSecret }, { OLD_SECRET_MS }] = await Promise.all([
    import('../webhooks/signed-message.ts'),
    import('../domain/webhook.ts'),
  ]);
  const secret = mintWebhookSecret();
  const webhook = await withExistingStore(config, (store) =>
    store.rotateSecret(requireWebhookId(id), secret, Date.now() + OLD_SECRET_MS),
  );
  const words = `Secret of webhook ${id} rotated. For 24 hours, the old secret also signs each delivery.`;
  await reportSecret(io, words, webhook, secret);
}

async function enableWebhook({ io, config }: CommandContext, id: string): Promise<void> {
  const [before, webhook] = await withExistingStore(config, async (store) => {
    return [
      await store.getWebhook(requireWebhookId(id)),
      await store.updateWebhook(id, { enabled: true }, Date.now()),
    ] as const;
  });
  const words =
    before.disabledMs === null
      ? `Webhook ${id} was already enabled. Its last processed change is ${webhook.position}.`
      : `Webhook ${id} enabled. Pending changes after ${webhook.position} will be delivered.`;
  report(io.stdout, words, await describe(webhook));
}

async function disableWebhook({ io, config }: CommandContext, id: string): Promise<void> {
  const webhook = await withExistingStore(config, (store) =>
    store.updateWebhook(requireWebhookId(id), { enabled: false }, Date.now()),
  );
  const words = `Webhook ${id} is disabled. To deliver the changes after ${webhook.position}, run "${OWN_COMMAND} webhook enable ${id}".`;
  report(io.stdout, words, await describe(webhook));
}

async function testWebhook({ io, config }: CommandContext, id: string): Promise<void> {
  const webhook = await withExistingStore(config, (store) => store.getWebhook(requireWebhookId(id)));
  const [{ createReceiverClient, toTestResult }, { toTestMessage }, { createTargetGuard }] = await Promise.all([
    import('../webhooks/receiver-client.ts'),
    import('../webhooks/signed-message.ts'),
    import('../webhooks/target-guard.ts'),
  ]);
  const targetGuard = createTargetGuard({ allowPrivate: config.allowPrivateWebhooks });
  const receiverClient = createReceiverClient(targetGuard, (error) => {
    throw error;
  });
  const result = toTestResult(await receiverClient.post(webhook.url, toTestMessage(webhook, Date.now())));
  receiverClient.close();
  const { delivered, code, error, answer = '', milliseconds } = result;
  const words = delivered
    ? `Delivered from this terminal, with its settings. The receiver returned ${code} after ${milliseconds} ms.`
    : `Not delivered: ${error}`;
  report(io.stdout, answer === '' ? words : `${words}\n${answer}`, result);
  if (!delivered) io.exitCode = 1;
}

async function reportSecret(io: CommandIo, words: string, webhook: StoredWebhook, secret: string): Promise<void> {
  const text = `${secret}\n${words}\nThe secret above is shown only once. Store it now.`;
  report(io.stdout, text, { ...(await describe(webhook)), secret });
}

async function describe(webhook: StoredWebhook): Promise<Webhook> {
  return (await import('../domain/webhook.ts')).describeWebhook(webhook, Date.now());
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

/** Returns the URL if webhooks may send to it. Throws UsageError otherwise. */
async function checkTarget(url: string, { allowPrivateWebhooks }: Config): Promise<string> {
  const { createTargetGuard } = await import('../webhooks/target-guard.ts');
  return createTargetGuard({ allowPrivate: allowPrivateWebhooks })
    .check(url)
    .catch((error: Error) => {
      throw error instanceof PlantStoreError ? new UsageError(error.message) : error;
    });
}
