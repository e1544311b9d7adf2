// Declares all commands, in the order and groups of the help. Each command's file adds its options and its action.

import type { Command, Help } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { CommandIo } from './command-io.ts';
import { CliCommand } from './declare.ts';

/** Usage and description of each command, by heading in the help. */
const GROUPS: Record<string, Record<string, string>> = {
  'The server:': {
    serve: 'start the server; stop it with Ctrl-C or SIGTERM',
  },
  'Plants on a running server:': {
    'add <id> <name>': 'store a plant; repeating the command changes nothing',
    'get <id>': 'show a plant',
    list: 'list, sort, count or search plants',
    tags: 'list the most common tags with their numbers of plants',
    'history <id>': 'list the changes of a plant, newest first',
    'edit <id>': 'change the name or tag of a plant',
    'rm <id...>': 'remove plants; their ids can be used again',
    watch: 'print each change as it happens, until Ctrl-C',
  },
  'Signing in:': {
    'login [url]': 'save a server and a token for other commands',
    logout: 'remove a saved server and its token',
    whoami: 'show the server, the token in use and its scopes',
    profile: 'list saved servers, and choose the current one',
  },
  'Files:': {
    'import <file>': 'create plants from an NDJSON or CSV file',
    'export <file>': 'write a consistent snapshot of all plants to a file',
    'backup <file>': 'copy a SQLite store to a file, also while it is in use',
    backups: 'list the scheduled backups of a SQLite store, newest first',
    'restore <file>': 'create the SQLite store at DATABASE_URL from a backup',
  },
  'Administration:': {
    doctor: 'check the store and its surroundings, and say what to fix',
    status: 'show the version, size and traffic of a running server',
    token: 'create, list, change, rotate and revoke access tokens',
    webhook: 'manage webhooks and inspect their deliveries',
    changes: 'list and prune the changes in the change log',
    migrate: 'copy a store from SQLite to PostgreSQL and verify the copy',
  },
  'More:': {
    config: 'print the settings in force, their sources and meanings',
    settings: 'list the environment variables and their defaults',
    'completion <shell>': 'print a completion script for bash, zsh or fish',
  },
};

const DECLARE: Record<string, () => Promise<(command: CliCommand) => void>> = {
  serve: async () => (await import('./serve.ts')).declareServe,
  add: async () => (await import('./plants.ts')).declareAdd,
  get: async () => (await import('./plants.ts')).declareGet,
  list: async () => (await import('./list.ts')).declareList,
  tags: async () => (await import('./tags.ts')).declareTags,
  history: async () => (await import('./history.ts')).declareHistory,
  edit: async () => (await import('./plants.ts')).declareEdit,
  rm: async () => (await import('./plants.ts')).declareRemove,
  watch: async () => (await import('./watch.ts')).declareWatch,
  login: async () => (await import('./profiles/login.ts')).declareLogin,
  logout: async () => (await import('./profiles/profile-commands.ts')).declareLogout,
  whoami: async () => (await import('./profiles/login.ts')).declareWhoami,
  profile: async () => (await import('./profiles/profile-commands.ts')).declareProfile,
  import: async () => (await import('./import.ts')).declareImport,
  export: async () => (await import('./export.ts')).declareExport,
  backup: async () => (await import('./backup.ts')).declareBackup,
  backups: async () => (await import('./backups.ts')).declareBackups,
  restore: async () => (await import('./backup.ts')).declareRestore,
  doctor: async () => (await import('./doctor.ts')).declareDoctor,
  status: async () => (await import('./status.ts')).declareStatus,
  token: async () => (await import('./token.ts')).declareToken,
  webhook: async () => (await import('./webhook.ts')).declareWebhook,
  changes: async () => (await import('./changes.ts')).declareChanges,
  migrate: async () => (await import('./migrate.ts')).declareMigrate,
  config: async () => (await import('./config.ts')).declareConfig,
  settings: async () => (await import('./settings.ts')).declareSettings,
  completion: async () => (await import('./completion.ts')).declareCompletion,
};

const AFTER = `
Exit status: 0 success, 1 failure, 2 invalid usage or settings, 3 not found,
4 id in use or version changed, 5 token not authorized, 6 server unreachable.

After "login", commands use that server. With --database, they open a database.
Settings come from the environment. "plant-store settings" lists them all.
In a checkout, the command is "bin/plant-store".`;

/** Returns the program. Only wanted commands are loaded: the help needs just usage and description of the others. */
export async function createProgram(io: CommandIo, isWanted: (name: string) => boolean): Promise<Command> {
  const program = new CliCommand('plant-store', io)
    .description('A store of plant records with an HTTP API')
    .version(packageJson.version)
    .exitOverride()
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError() {}, // runCommand prints the error that commander throws
      getOutHelpWidth: () => io.stdout.columns ?? 80,
      getErrHelpWidth: () => io.stderr.columns ?? 80,
    })
    .notes(AFTER)
    .examples(
      'plant-store serve',
      'plant-store token create --name me --scopes all | plant-store login',
      'plant-store add 7 "Monstera deliciosa" --tag tropical',
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
  return program.helpCommand(true); // added to the last group
}

/** Returns the command's name and arguments. Its options appear only in its own help. */
function termOf(this: Help, command: Command): string {
  const names = command.registeredArguments.map((argument) => this.argumentTerm(argument));
  const parts = command.registeredArguments.map(({ required, variadic }, at) => {
    const name = variadic ? `${names[at]}...` : names[at];
    return required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...parts].join(' ');
}
