// argv → command. Every command is loaded when it is asked for, so that the others cost it nothing.

import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { readConfig } from './config.ts';
import { PlantStoreError } from './error.ts';
import { Refusal } from './refusal.ts';

const program = new Command('plant-store')
  .description('A store of plant records behind one small, exact HTTP interface')
  .version(packageJson.version)
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'plant-store: ')) })
  .showHelpAfterError('Add --help to see how it is used')
  .addHelpText(
    'after',
    `
Settings come from the environment:
  HOST, PORT     where it listens (127.0.0.1, 3000)
  DATABASE_URL   where the records are (sqlite:./data/plants.db), or postgres://…
  BASE_PATH      stands before every path (none)
  LOG_LEVEL      silent, error, warn, info or debug (info)
  ACCESS_LOG     1 logs a line for each request (0)

  DATABASE_POOL_SIZE    connections of a server to PostgreSQL (10)
  DATABASE_TIMEOUT_MS   after which PostgreSQL gives a statement up (10000)

  TLS_CERT, TLS_KEY   files of a certificate and its key: then it speaks https only (none)
  TRUST_PROXY         whose X-Forwarded-For counts: 10.0.0.7, 10.0.0.0/8, loopback, or how many
                      proxies there are (nobody's)
  CORS_ORIGINS        whose pages may use it in a browser: https://shop.example.com,… or * (nobody's)
  JWT_ISSUER, JWT_AUDIENCE   an identity provider whose JWTs are taken, and what their "aud" must be
  JWKS_URL            where its keys are (as its metadata says)
  JWT_RATE            how often each subject may ask: 100/s (no limit)

  WEBHOOK_ALLOW_PRIVATE   1 lets webhooks lead into private networks, also without TLS (0)

  PLANT_STORE_TOKEN   the token that "import" and "export" send to a --url

In a checkout "plant-store" is "npm run --silent plant-store --".

Examples:
  plant-store serve
  PORT=8080 DATABASE_URL=sqlite:/var/lib/plant-store/plants.db plant-store serve
  DATABASE_URL=postgres://plants:secret@db.example.com/plants plant-store serve
  plant-store token create --name shop --expires 90d
  plant-store import species.csv
  plant-store webhook add https://shop.example.com/plants
  plant-store backup plants-monday.db`,
  );

program
  .command('serve')
  .description('start the service (stop it with Ctrl-C or SIGTERM)')
  .action(async () => {
    const config = readConfig();
    await (await import('./commands/serve.ts')).serve(config);
  });

const TOKEN_ID = ['<id>', 'as "token list" shows it: tok_…'] as const;
const token = program.command('token').description('make, list, renew and revoke the tokens that clients send');

token
  .command('create')
  .description('make a token and print its secret, which is shown only now')
  .requiredOption('--name <name>', 'who will use it')
  .option('--scopes <list>', 'of plants:read, plants:write and admin', 'plants:read,plants:write')
  .option('--expires <time>', 'after 30m, 12h, 90d or 4w (default: never)')
  .option('--rate <rate>', 'how often it may ask at most: 100/s, 600/m or 5000/h (default: no limit)')
  .addHelpText(
    'after',
    `
Examples:
  plant-store token create --name shop
  plant-store token create --name importer --scopes plants:write --expires 90d
  plant-store token create --name stranger --scopes plants:read --rate 10/s
  TOKEN=$(plant-store token create --name me)`,
  )
  .action(async (options) => {
    const config = readConfig();
    await (await import('./commands/token.ts')).createToken(config, options);
  });

token
  .command('list')
  .description('show all tokens, never their secrets')
  .option('--json', 'as JSON, which is the default when piped')
  .action(async (options) => {
    const config = readConfig();
    await (await import('./commands/token.ts')).listTokens(config, options);
  });

token
  .command('rotate')
  .description('give a token a new secret and print it; for a while the old one is taken, too')
  .argument(...TOKEN_ID)
  .option('--grace <time>', 'for how long: 30m, 12h, 7d; 0 ends the old secret now', '24h')
  .addHelpText(
    'after',
    `
Examples:
  plant-store token rotate tok_…
  plant-store token rotate tok_… --grace 0   (the old secret has leaked)`,
  )
  .action(async (id, options) => {
    const config = readConfig();
    await (await import('./commands/token.ts')).rotateToken(config, id, options);
  });

token
  .command('revoke')
  .description('end a token; a running server refuses it within a second')
  .argument(...TOKEN_ID)
  .option('--force', 'also the last one that is active with the scope admin')
  .addHelpText('after', '\nExamples:\n  plant-store token revoke tok_…')
  .action(async (id, options) => {
    const config = readConfig();
    await (await import('./commands/token.ts')).revokeToken(config, id, options);
  });

const WEBHOOK_ID = ['<id>', 'as "webhook list" shows it: whk_…'] as const;
const webhook = program.command('webhook').description('have receivers told of changes, and see what became of it');

webhook
  .command('add')
  .description('make a webhook and print its secret, which is shown only now')
  .argument('<url>', 'https://…; with WEBHOOK_ALLOW_PRIVATE=1 also into private networks, and http:// there')
  .option('--events <list>', 'of plant.created, plant.updated and plant.deleted, or all', 'plant.created')
  .addHelpText(
    'after',
    `
Each change from now on is sent with POST, signed by Standard Webhooks 1.0, and tried again for
three days. Give the secret to the receiver, which verifies with it what it gets.

Examples:
  plant-store webhook add https://shop.example.com/plants
  plant-store webhook add https://shop.example.com/plants --events all
  WEBHOOK_ALLOW_PRIVATE=1 plant-store webhook add http://127.0.0.1:8080/`,
  )
  .action(async (url, options) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).addWebhook(config, url, options);
  });

webhook
  .command('list')
  .description('show all webhooks, never their secrets')
  .option('--json', 'as JSON, which is the default when piped')
  .addHelpText('after', '\nExamples:\n  plant-store webhook list')
  .action(async (options) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).listWebhooks(config, options);
  });

webhook
  .command('remove')
  .description('end a webhook and forget its deliveries')
  .argument(...WEBHOOK_ID)
  .addHelpText('after', '\nExamples:\n  plant-store webhook remove whk_…')
  .action(async (id) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).removeWebhook(config, id);
  });

webhook
  .command('deliveries')
  .description('show what became of each delivery, newest first')
  .argument(...WEBHOOK_ID)
  .option('--status <status>', 'only those that are waiting, delivered or dead')
  .option('--limit <n>', 'at most so many, up to 1000', '100')
  .option('--before <seq>', 'only those of changes before this one')
  .option('--json', 'as JSON, which is the default when piped')
  .addHelpText(
    'after',
    `
Examples:
  plant-store webhook deliveries whk_…
  plant-store webhook deliveries whk_… --status dead --json`,
  )
  .action(async (id, options) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).listDeliveries(config, id, options);
  });

webhook
  .command('retry')
  .description('send a change again, whatever became of it')
  .argument(...WEBHOOK_ID)
  .argument('<seq>', 'number of the change, as "webhook deliveries" shows it')
  .addHelpText('after', '\nExamples:\n  plant-store webhook retry whk_… 1042')
  .action(async (id, seq) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).retryDelivery(config, id, seq);
  });

webhook
  .command('replay')
  .description('send a range of changes again; what is new comes after them')
  .argument(...WEBHOOK_ID)
  .requiredOption('--from <seq>', 'number of the first change (needed)')
  .option('--to <seq>', 'number of the last change (default: the newest)')
  .addHelpText(
    'after',
    '\nExamples:\n  plant-store webhook replay whk_… --from 1000 --to 2000\n  plant-store webhook replay whk_… --from 1',
  )
  .action(async (id, options) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).replayChanges(config, id, options);
  });

webhook
  .command('test')
  .description('send a message now, and tell what came of it')
  .argument(...WEBHOOK_ID)
  .addHelpText(
    'after',
    `
It is sent from here, with the settings of this terminal: a server may be in another network, or
may have another WEBHOOK_ALLOW_PRIVATE. The exit status is 1 when it was not delivered.

Examples:
  plant-store webhook test whk_…`,
  )
  .action(async (id) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).testWebhook(config, id);
  });

webhook
  .command('rotate')
  .description('give a webhook a new secret; for 24 hours the old one signs, too')
  .argument(...WEBHOOK_ID)
  .addHelpText('after', '\nExamples:\n  plant-store webhook rotate whk_…')
  .action(async (id) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).rotateSecret(config, id);
  });

webhook
  .command('enable')
  .description('go on with a webhook that was disabled, with all that has come since')
  .argument(...WEBHOOK_ID)
  .addHelpText('after', '\nExamples:\n  plant-store webhook enable whk_…')
  .action(async (id) => {
    const config = readConfig();
    await (await import('./commands/webhook.ts')).enableWebhook(config, id);
  });

program
  .command('import')
  .description('create plants from a file; run it again to go on after an interruption')
  .argument('<file>', 'NDJSON or CSV with the header row id,name,tag; - is standard input')
  .option('--format <format>', 'ndjson or csv (default: as the name of the file ends; ndjson for -)')
  .option('--url <url>', 'of a running server, with a token in PLANT_STORE_TOKEN (default: into the database)')
  .addHelpText(
    'after',
    `
Every line that fails is named on standard error, and the exit status is 1.

Examples:
  plant-store import species.csv
  zcat plants.ndjson.gz | plant-store import -
  PLANT_STORE_TOKEN=pst_… plant-store import species.csv --url https://plants.example.com`,
  )
  .action(async (file, options) => {
    const config = readConfig();
    await (await import('./commands/import.ts')).importFile(config, file, options);
  });

program
  .command('export')
  .description('write all plants, as they are at one moment, into a file')
  .argument('<file>', 'is there, or replaced, only when it is whole; - is standard output')
  .option('--format <format>', 'ndjson or csv (default: as the name of the file ends; ndjson for -)')
  .option('--url <url>', 'of a running server, with a token in PLANT_STORE_TOKEN (default: from the database)')
  .addHelpText(
    'after',
    `
Examples:
  plant-store export plants.csv
  plant-store export - | gzip > plants.ndjson.gz`,
  )
  .action(async (file, options) => {
    const config = readConfig();
    await (await import('./commands/export.ts')).exportFile(config, file, options);
  });

program
  .command('backup')
  .description('make a consistent copy of the store, also while a server runs on it')
  .argument('<file>', 'a new file')
  .addHelpText('after', '\nExamples:\n  plant-store backup "plants-$(date +%F).db"')
  .action(async (file) => {
    const config = readConfig();
    await (await import('./commands/backup.ts')).backUp(config, file);
  });

program
  .command('restore')
  .description('put a backup where DATABASE_URL says; there must be no store yet')
  .argument('<file>', 'a backup')
  .addHelpText(
    'after',
    `
Stop the server and move the old store away first. Tokens are those of the backup: what
was revoked since works again. Whoever follows the change log and has seen what came after
the backup has to begin anew with an export: the service tells them so.

Examples:
  mv data/plants.db data/plants-old.db
  plant-store restore plants-monday.db`,
  )
  .action(async (file) => {
    const config = readConfig();
    await (await import('./commands/backup.ts')).restore(config, file);
  });

program
  .command('migrate')
  .description('copy a whole store from SQLite into PostgreSQL, and prove that both hold the same')
  .requiredOption('--from <url>', 'sqlite:PATH; a server may go on using it')
  .requiredOption('--to <url>', 'postgres://USER:PASSWORD@HOST:PORT/DATABASE; empty, or a copy from before')
  .addHelpText(
    'after',
    `
Plants come with their versions and times, the change log with its numbers, tokens as they are.
Run it while the old server works, then stop that server and run it again: only what has come
since is brought over, though both sides are read and compared as a whole. Then start servers
with DATABASE_URL set to the new one. What it prints is words on a terminal, JSON when piped.

Examples:
  plant-store migrate --from sqlite:./data/plants.db --to postgres://plants:secret@db.example.com/plants`,
  )
  .action(async (options) => {
    await (await import('./commands/migrate.ts')).migrate(options);
  });

program
  .command('changes')
  .description('look after the change log')
  .command('prune')
  .description('remove old changes; the records stay, and numbers never come again')
  .requiredOption('--older-than <time>', '30m (minutes), 12h (hours), 90d (days) or 4w (weeks)')
  .addHelpText('after', '\nExamples:\n  plant-store changes prune --older-than 90d')
  .action(async (options) => {
    const config = readConfig();
    await (await import('./commands/changes.ts')).pruneChanges(config, options);
  });

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2; // it has printed its message itself
  } else if (error instanceof Refusal || error instanceof PlantStoreError) {
    process.stderr.write(`plant-store: ${error.message}\n`);
    process.exit(error instanceof Refusal ? error.exitStatus : 1);
  } else {
    throw error;
  }
}
