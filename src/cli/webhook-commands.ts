// The declaration of plant-store webhook …; webhook.ts does the work.

import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { CHANGE_TYPES, DELIVERY_STATUSES } from '../domain/names.ts';
import { examples, optionWith } from './declare.ts';

const WEBHOOK_ID = ['<id>', 'as "webhook list" shows it: whk_…'] as const;

export function declareWebhook(program: Command): void {
  const webhook = program
    .command('webhook')
    .description('have receivers told of changes, and see what became of it')
    .addHelpText(
      'after',
      examples('plant-store webhook add https://shop.example.com/plants', 'plant-store webhook deliveries whk_…'),
    );
  declareCare(webhook);
  declareDeliveries(webhook);
}

function declareCare(webhook: Command): void {
  webhook
    .command('add')
    .description('make a webhook and print its secret, which is shown only now')
    .argument('<url>', 'https://…; with WEBHOOK_ALLOW_PRIVATE=1 also into private networks, and http:// there')
    .addOption(
      optionWith('--events <list>', 'of plant.created, plant.updated and plant.deleted, or all', {
        values: [...CHANGE_TYPES, 'all'],
        isList: true,
      }).default('plant.created'),
    )
    .addHelpText(
      'after',
      `
Each change from now on is sent with POST, signed by Standard Webhooks 1.0, and
tried again for three days. Give the secret to the receiver, which verifies with
it what it gets.
${examples(
  'plant-store webhook add https://shop.example.com/plants',
  'plant-store webhook add https://shop.example.com/plants --events all',
  'WEBHOOK_ALLOW_PRIVATE=1 plant-store webhook add http://127.0.0.1:8080/',
)}`,
    )
    .action(async (url, options) => {
      const config = readConfig();
      await (await import('./webhook.ts')).addWebhook(config, url, options);
    });

  webhook
    .command('list')
    .description('show all webhooks, never their secrets')
    .option('--json', 'as JSON, which is the default when piped')
    .addHelpText('after', examples('plant-store webhook list'))
    .action(async (options) => {
      const config = readConfig();
      await (await import('./webhook.ts')).listWebhooks(config, options);
    });

  webhook
    .command('remove')
    .description('end a webhook and forget its deliveries')
    .argument(...WEBHOOK_ID)
    .addHelpText('after', examples('plant-store webhook remove whk_…'))
    .action(async (id) => {
      const config = readConfig();
      await (await import('./webhook.ts')).removeWebhook(config, id);
    });

  webhook
    .command('rotate')
    .description('give a webhook a new secret; for 24 hours the old one signs, too')
    .argument(...WEBHOOK_ID)
    .addHelpText('after', examples('plant-store webhook rotate whk_…'))
    .action(async (id) => {
      const config = readConfig();
      await (await import('./webhook.ts')).rotateSecret(config, id);
    });

  webhook
    .command('enable')
    .description('go on with a webhook that was disabled, with all that has come since')
    .argument(...WEBHOOK_ID)
    .addHelpText('after', examples('plant-store webhook enable whk_…'))
    .action(async (id) => {
      const config = readConfig();
      await (await import('./webhook.ts')).enableWebhook(config, id);
    });
}

function declareDeliveries(webhook: Command): void {
  webhook
    .command('deliveries')
    .description('show what became of each delivery, newest first')
    .argument(...WEBHOOK_ID)
    .addOption(
      optionWith('--status <status>', 'only those that are waiting, delivered or dead', { values: DELIVERY_STATUSES }),
    )
    .option('--limit <n>', 'at most so many, up to 1000', '100')
    .option('--before <seq>', 'only those of changes before this one')
    .option('--json', 'as JSON, which is the default when piped')
    .addHelpText(
      'after',
      examples('plant-store webhook deliveries whk_…', 'plant-store webhook deliveries whk_… --status dead --json'),
    )
    .action(async (id, options) => {
      const config = readConfig();
      await (await import('./webhook.ts')).listDeliveries(config, id, options);
    });

  webhook
    .command('retry')
    .description('send a change again, whatever became of it')
    .argument(...WEBHOOK_ID)
    .argument('<seq>', 'number of the change, as "webhook deliveries" shows it')
    .addHelpText('after', examples('plant-store webhook retry whk_… 1042'))
    .action(async (id, seq) => {
      const config = readConfig();
      await (await import('./webhook.ts')).retryDelivery(config, id, seq);
    });

  webhook
    .command('replay')
    .description('send a range of changes again; what is new comes after them')
    .argument(...WEBHOOK_ID)
    .requiredOption('--from <seq>', 'number of the first change (needed)')
    .option('--to <seq>', 'number of the last change (default: the newest)')
    .addHelpText(
      'after',
      examples('plant-store webhook replay whk_… --from 1000 --to 2000', 'plant-store webhook replay whk_… --from 1'),
    )
    .action(async (id, options) => {
      const config = readConfig();
      await (await import('./webhook.ts')).replayChanges(config, id, options);
    });

  webhook
    .command('test')
    .description('send a message now, and tell what came of it')
    .argument(...WEBHOOK_ID)
    .addHelpText(
      'after',
      `
It is sent from here, with the settings of this terminal: a server may be in
another network, or may have another WEBHOOK_ALLOW_PRIVATE. The exit status is 1
when it was not delivered.
${examples('plant-store webhook test whk_…')}`,
    )
    .action(async (id) => {
      const config = readConfig();
      await (await import('./webhook.ts')).testWebhook(config, id);
    });
}
