// All commands, in the order and the groups in which the help lists them. Each file declares the rest of its commands.

import type { Command, Help } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { CommandIo } from './command-io.ts';
import { CliCommand } from './declare.ts';

/** Usage and description of each command, by the heading under which the help lists them. */
const GROUPS: Record<string, Record<string, string>> = {
  'The server:': {
    serve: 'start the service (stop it with Ctrl-C or SIGTERM)',
  },
  'Plants of a running server:': {
    'add <id> <name>': 'store a plant; the same once more changes nothing',
    'get <id>': 'show a plant',
    list: 'show plants by ascending id; find them by words or tag',
    'edit <id>': 'change the name or the tag of a plant',
    'rm <id...>': 'remove plants; their ids are free again',
    watch: 'show each change when it happens, until Ctrl-C',
  },
  'Files:': {
    'import <file>': 'create plants from a file; run it again to go on after an interruption',
    'export <file>': 'write all plants, as they are at one moment, into a file',
    'backup <file>': 'make a consistent copy of the store, also while a server runs on it',
    'restore <file>': 'put a backup where DATABASE_URL says; there must be no store yet',
  },
  'Administration:': {
    token: 'make, list, renew and revoke the tokens that clients send',
    webhook: 'have receivers told of changes, and see what became of it',
    changes: 'look after the change log',
    migrate: 'copy a whole store from SQLite into PostgreSQL, and prove that both hold the same',
  },
  'More:': {
    settings: 'list what can be set in the environment',
    'completion <shell>': 'print what makes a shell complete commands and options with the Tab key',
  },
};

const DECLARE: Record<string, () => Promise<(command: CliCommand) => void>> = {
  serve: async () => (await import('./serve.ts')).declareServe,
  add: async () => (await import('./plants.ts')).declareAdd,
  get: async () => (await import('./plants.ts')).declareGet,
  list: async () => (await import('./list.ts')).declareList,
  edit: async () => (await import('./plants.ts')).declareEdit,
  rm: async () => (await import('./plants.ts')).declareRemove,
  watch: async () => (await import('./watch.ts')).declareWatch,
  import: async () => (await import('./import.ts')).declareImport,
  export: async () => (await import('./export.ts')).declareExport,
  backup: async () => (await import('./backup.ts')).declareBackup,
  restore: async () => (await import('./backup.ts')).declareRestore,
  token: async () => (await import('./token.ts')).declareToken,
  webhook: async () => (await import('./webhook.ts')).declareWebhook,
  changes: async () => (await import('./changes.ts')).declareChanges,
  migrate: async () => (await import('./migrate.ts')).declareMigrate,
  settings: async () => (await import('./settings.ts')).declareSettings,
  completion: async () => (await import('./completion.ts')).declareCompletion,
};

const AFTER = `
Exit status: 0 done, 1 refused or failed, 2 wrong usage or settings; and of the
commands on plants 3 no such plant, 4 id taken or version changed, 5 no token or
not a good one, 6 server out of reach.

Settings come from the environment: "plant-store settings" lists them.
In a checkout "plant-store" is "npm run --silent plant-store --".`;

/** Returns the program. Only wanted commands are loaded: of others its help needs usage and description only. */
export async function createProgram(io: CommandIo, isWanted: (name: string) => boolean): Promise<Command> {
  const program = new CliCommand('plant-store', io)
    .description('A store of plant records behind one small, exact HTTP interface')
    .version(packageJson.version)
    .exitOverride()
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError() {}, // runCommand prints what is thrown
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
    })
    .notes(AFTER)
    .examples(
      'plant-store serve',
      'export PLANT_STORE_TOKEN=$(plant-store token create --name me)',
      'plant-store add 7 "Monstera deliciosa" --tag tropical',
      'plant-store list --search monstera',
      'plant-store import species.csv',
    );
  for (const [heading, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(heading);
    for (const [usage, description] of Object.entries(commands)) {
      const [name = ''] = usage.split(' ');
      const load = isWanted(name) ? DECLARE[name] : undefined;
      const command = program.command(load ? name : usage).description(description);
      (await load?.())?.(command);
    }
  }
  return program.helpCommand(true); // into the last group
}

/** Options are for the help of the command itself. */
function termOf(this: Help, command: Command): string {
  const names = command.registeredArguments.map((argument) => this.argumentTerm(argument));
  const parts = command.registeredArguments.map(({ required, variadic }, at) => {
    const name = variadic ? `${names[at]}...` : names[at];
    return required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...parts].join(' ');
}
