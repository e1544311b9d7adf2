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
  .showHelpAfterError('See "plant-store --help"')
  .addHelpText(
    'after',
    `
Settings come from the environment:
  HOST, PORT     where it listens (127.0.0.1, 3000)
  DATABASE_URL   where the records are (sqlite:./data/plants.db)
  BASE_PATH      stands before every path (none)
  LOG_LEVEL      silent, error, warn, info or debug (info)
  ACCESS_LOG     1 logs a line for each request (0)

In a checkout "plant-store" is "npm run --silent plant-store --".

Examples:
  plant-store serve
  PORT=8080 DATABASE_URL=sqlite:/var/lib/plant-store/plants.db plant-store serve
  plant-store token create --name shop --expires 90d`,
  );

program
  .command('serve')
  .description('start the service (stop it with Ctrl-C or SIGTERM)')
  .action(async () => {
    const config = readConfig();
    await (await import('./commands/serve.ts')).serve(config);
  });

const token = program.command('token').description('make, list and revoke the tokens that clients send');

token
  .command('create')
  .description('make a token and print its secret, which is shown only now')
  .requiredOption('--name <name>', 'who will use it')
  .option('--scopes <list>', 'of plants:read, plants:write and admin', 'plants:read,plants:write')
  .option('--expires <time>', 'after 30m, 12h, 90d or 4w (default: never)')
  .addHelpText(
    'after',
    `
Examples:
  plant-store token create --name shop
  plant-store token create --name importer --scopes plants:write --expires 90d
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
  .command('revoke')
  .description('end a token; a running server refuses it within a second')
  .argument('<id>', 'as "token list" shows it: tok_…')
  .action(async (id) => {
    const config = readConfig();
    await (await import('./commands/token.ts')).revokeToken(config, id);
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
