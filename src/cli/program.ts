// All commands, in the order and the groups in which the help shows them. Each family declares itself.

import { Command, type Help } from 'commander';
import { declareCompletion } from './completion-command.ts';
import { declareDatabase } from './database-commands.ts';
import { examples } from './declare.ts';
import { declareFiles } from './file-commands.ts';
import { declarePlants } from './plant-commands.ts';
import { declareServe } from './serve-command.ts';
import { declareSettings } from './settings-command.ts';
import { declareToken } from './token-commands.ts';
import { declareWebhook } from './webhook-commands.ts';

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

export function createProgram(version: string): Command {
  const program = new Command('plant-store')
    .description('A store of plant records behind one small, exact HTTP interface')
    .version(version)
    .exitOverride()
    .configureHelp({ subcommandTerm: termOf })
    .configureOutput({ outputError() {} }) // main.ts prints what is thrown
    .addHelpText('after', AFTER);
  for (const [heading, families] of [
    ['The server:', [declareServe]],
    ['Plants of a running server:', [declarePlants]],
    ['Files:', [declareFiles]],
    ['Administration:', [declareToken, declareWebhook, declareDatabase]],
    ['More:', [declareSettings, declareCompletion]],
  ] as const) {
    program.commandsGroup(heading);
    for (const declare of families) declare(program);
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
