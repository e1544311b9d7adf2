// Tests of the help: every command has a description, its arguments and options, and examples.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { runInProcess } from '../../testing/command-line.ts';
import { docsPage } from '../lib/docs-page.ts';
import { EXIT_STATUS, EXIT_STATUS_MEANINGS, INTERRUPTED } from './exit-status.ts';
import { createProgram } from './program.ts';

const MAX_COLUMNS = 80;
/** Maximum width of an example, which stays on one line so that it can be copied. */
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
  test(`${pathOf(command)} --help describes the command and has examples`, () => {
    assert.match(command.description(), /\w/);
    for (const option of command.options) assert.match(option.description, /\w/, option.flags);
    for (const argument of command.registeredArguments) assert.match(argument.description, /\w/, argument.name());
    const help = helpOf(command);
    const [, examples = ''] = help.split('\nExamples:\n');
    assert.ok(examples.includes(pathOf(command)), help);
    for (const line of help.split('\n')) {
      if (line.trim() === docsPage('reference/configuration.md')) continue; // a path stays whole
      const isCommand = line.startsWith('  ') && line.includes('plant-store ');
      assert.ok(line.length <= (isCommand ? MAX_COMMAND_COLUMNS : MAX_COLUMNS), line);
    }
  });
}

test('the top-level help fits on a screen and has the groups, exit statuses and a pointer to the settings', () => {
  const help = helpOf(program);
  assert.ok(help.split('\n').length <= SCREEN_LINES, help);
  assert.deepEqual(help.match(/^[A-Z][\w ]+:$/gm), [
    'Options:',
    'The server:',
    'Plants on a running server:',
    'Signing in:',
    'Files:',
    'Administration:',
    'More:',
    'Examples:',
  ]);
  assert.match(help, /Exit status: 0 success, 1 .*6 server unreachable/s);
  assert.match(help, /"plant-store settings" lists them/);
});

test('the top-level help does not depend on which commands are loaded', async () => {
  assert.equal(helpOf(await createProgram(process, () => false)), helpOf(program));
});

test('every exit status has a meaning', () => {
  const described = EXIT_STATUS_MEANINGS.map(({ status }) => status);
  assert.deepEqual(described, [0, ...Object.values(EXIT_STATUS), INTERRUPTED]);
});

test('help settings and settings print the same list of settings', async () => {
  const [one, other] = await Promise.all([runInProcess(['help', 'settings']), runInProcess(['settings'])]);
  assert.equal(one.stdout, other.stdout);
  assert.deepEqual([one.status, other.status], [0, 0]);
  for (const name of [
    'PORT',
    'DATABASE_URL',
    'PLANT_STORE_URL',
    'PLANT_STORE_TOKEN',
    'PLANT_STORE_PROFILE',
    'WEBHOOK_ALLOW_PRIVATE',
  ]) {
    assert.ok(one.stdout.includes(name), name);
  }
});

test('a mistyped command or option is rejected with status 2 and a suggestion', async () => {
  for (const [args, guess] of [
    [['lst'], /^plant-store: Unknown command 'lst' \(Did you mean list\?\)\. Add --help to see the usage\.\n$/],
    [['list', '--serch', 'x'], /^plant-store: Unknown option '--serch' \(Did you mean --search\?\)\. /],
    [['completion', 'csh'], /Allowed choices are bash, zsh, fish/],
    [['remove', '7'], /^plant-store: "remove" is not a command\. Use "\S.* rm ID"\.\n$/],
    [['delete'], /^plant-store: "delete" is not a command\. Use "\S.* rm ID"\.\n$/],
    [['start'], /Use "\S.* serve"\.\n$/],
    [['upgrade'], /^plant-store: "upgrade" is not a command\. Install the new version .* migrate" copies a store/],
    [['token', 'delete', 'tok_1'], /^plant-store: "token delete" is not a command\. Use "\S.* token revoke ID"\.\n$/],
    [['token', 'frob'], /^plant-store: Unknown command 'frob'\. Add --help/],
  ] as const) {
    const { status, stdout, stderr } = await runInProcess([...args]);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(stderr, guess);
  }
});
