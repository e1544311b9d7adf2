// All commands, in the order and the groups in which the help lists them. Each file declares its commands.

import { Command, type Help } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { CommandIo } from './command-io.ts';
import { examples } from './declare.ts';

type Declare = (program: Command, io: CommandIo) => void;

const GROUPS: [heading: string, commands: Record<string, () => Promise<Declare>>][] = [
  ['The server:', { serve: async () => (await import('./serve.ts')).declareServe }],
  [
    'Plants of a running server:',
    {
      add: async () => (await import('./plants.ts')).declareAdd,
      get: async () => (await import('./plants.ts')).declareGet,
      list: async () => (await import('./list.ts')).declareList,
      edit: async () => (await import('./plants.ts')).declareEdit,
      rm: async () => (await import('./plants.ts')).declareRemove,
      watch: async () => (await import('./watch.ts')).declareWatch,
    },
  ],
  [
    'Files:',
    {
      import: async () => (await import('./import.ts')).declareImport,
      export: async () => (await import('./export.ts')).declareExport,
      backup: async () => (await import('./backup.ts')).declareBackup,
      restore: async () => (await import('./backup.ts')).declareRestore,
    },
  ],
  [
    'Administration:',
    {
      token: async () => (await import('./token.ts')).declareToken,
      webhook: async () => (await import('./webhook.ts')).declareWebhook,
      changes: async () => (await import('./changes.ts')).declareChanges,
      migrate: async () => (await import('./migrate.ts')).declareMigrate,
    },
  ],
  [
    'More:',
    {
      settings: async () => (await import('./settings.ts')).declareSettings,
      completion: async () => (await import('./completion.ts')).declareCompletion,
    },
  ],
];

const AFTER = `
Exit status: 0 done, 1 refused or failed, 2 wrong usage or settings; and of the
commands on plants 3 no such plant, 4 id taken or version changed, 5 no token or
not a good one, 6 server out of reach.

Settings come from the environment: "plant-store settings" lists them.
In a checkout "plant-store" is "npm run --silent plant-store --".
${examples(
  'plant-store serve',
  'export PLANT_STORE_TOKEN=$(plant-store token create --name me)',
  'plant-store add 7 "Monstera deliciosa" --tag tropical',
  'plant-store list --search monstera',
  'plant-store import species.csv',
)}`;

/** Returns the program, with one command only if `name` is one: the others are not loaded then. */
export async function createProgram(io: CommandIo, name?: string): Promise<Command> {
  const program = new Command('plant-store')
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
    .addHelpText('after', AFTER);
  const isCommand = GROUPS.some(([, commands]) => name !== undefined && Object.hasOwn(commands, name));
  for (const [heading, commands] of GROUPS) {
    program.commandsGroup(heading);
    for (const [each, load] of Object.entries(commands)) {
      if (!isCommand || each === name || name === 'completion') (await load())(program, io);
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
