// Every command says what it is for, what it takes, and shows how it is used.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { runInProcess } from '../../testing/command-line.ts';
import { createProgram } from './program.ts';

const MAX_COLUMNS = 80;
/** A command is one line, so that it can be copied. */
const MAX_COMMAND_COLUMNS = 100;
const SCREEN_LINES = 60;

function allCommands(command: Command): Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHelpWidth: () => MAX_COLUMNS,
  });
  command.outputHelp();
  return text;
}

const program = await createProgram(process, () => true);

for (const command of allCommands(program)) {
  test(`${pathOf(command)} --help says what it is for and has examples of itself`, () => {
    assert.match(command.description(), /\w/);
    for (const option of command.options) assert.match(option.description, /\w/, option.flags);
    for (const argument of command.registeredArguments) assert.match(argument.description, /\w/, argument.name());
    const help = helpOf(command);
    const [, examples = ''] = help.split('\nExamples:\n');
    assert.ok(examples.includes(pathOf(command)), help);
    for (const line of help.split('\n')) {
      const isCommand = line.startsWith('  ') && line.includes('plant-store ');
      assert.ok(line.length <= (isCommand ? MAX_COMMAND_COLUMNS : MAX_COLUMNS), line);
    }
  });
}

test('the help of all fits on a screen: groups in order, exit statuses, where settings are', () => {
  const help = helpOf(program);
  assert.ok(help.split('\n').length <= SCREEN_LINES, help);
  assert.deepEqual(help.match(/^[A-Z][\w ]+:$/gm), [
    'Options:',
    'The server:',
    'Plants of a running server:',
    'Files:',
    'Administration:',
    'More:',
    'Examples:',
  ]);
  assert.match(help, /Exit status: 0 done, 1 .*6 server out of reach/s);
  assert.match(help, /"plant-store settings" lists them/);
});

test('the help of all is the same whether the commands are loaded or not', async () => {
  assert.equal(helpOf(await createProgram(process, () => false)), helpOf(program));
});

test('help settings and settings list what config.ts reads', async () => {
  const [one, other] = await Promise.all([runInProcess(['help', 'settings']), runInProcess(['settings'])]);
  assert.equal(one.stdout, other.stdout);
  assert.deepEqual([one.status, other.status], [0, 0]);
  for (const name of ['PORT', 'DATABASE_URL', 'PLANT_STORE_URL', 'PLANT_STORE_TOKEN', 'WEBHOOK_ALLOW_PRIVATE']) {
    assert.ok(one.stdout.includes(name), name);
  }
});

test('what is mistyped is refused with status 2 and a guess', async () => {
  for (const [args, guess] of [
    [['lst'], /^plant-store: unknown command 'lst'\n\(Did you mean list\?\)\nAdd --help/],
    [['list', '--serch', 'x'], /^plant-store: unknown option '--serch'\n\(Did you mean --search\?\)\n/],
    [['completion', 'csh'], /Allowed choices are bash, zsh, fish/],
  ] as const) {
    const { status, stdout, stderr } = await runInProcess([...args]);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, guess);
  }
});
