// Renders docs/reference/cli.md from the commands and the exit statuses.

import type { Argument, Command, Option } from 'commander';
import { type CliCommand, FixedOption } from '../../src/cli/declare.ts';
import { EXIT_STATUS_MEANINGS } from '../../src/cli/exit-status.ts';
import { createProgram } from '../../src/cli/program.ts';
import { toBlock, toCode, toPage, toTable } from './markdown.ts';

const INTRODUCTION = `\`plant-store\` starts the server and manages its data. On a terminal, commands print tables and sentences. When piped,
they print JSON. In a checkout, the command is \`bin/plant-store\`.`;

const ENVIRONMENT = `## Environment

All commands read their settings from the environment: see [configuration.md](configuration.md). Commands on plants use
\`PLANT_STORE_URL\` and \`PLANT_STORE_TOKEN\`, or a profile. Commands that also work on a database
[print which one they use](../guides/terminal.md#choose-the-server-or-the-database).`;

const ENDING = / \((?:default: .*|required)\)$/;

const STATUS_NOTE = `"Commands on a store" are all commands on plants, and also \`import\`, \`export\`, \`token\`, \`webhook\`, \`changes\`,
\`status\`, \`login\` and \`whoami\`.`;

export async function renderCli(): Promise<string> {
  const program = await createProgram(process, () => true);
  const byGroup = Map.groupBy(
    program.commands.filter((command) => command.name() !== 'help'),
    (command) => command.helpGroup(),
  );
  const groups = [...byGroup].map(([heading, commands]) =>
    [`## ${heading.replace(/:$/, '')}`, ...commands.flatMap(withSubcommands).map(renderCommand)].join('\n\n'),
  );
  const statuses = EXIT_STATUS_MEANINGS.map(({ status, meaning, commands }) => [String(status), meaning, commands]);
  return toPage('Command line', INTRODUCTION, [
    ...groups,
    '## Exit statuses',
    toTable(['status', 'meaning', 'commands'], statuses),
    STATUS_NOTE,
    ENVIRONMENT,
  ]);
}

/** Returns a command, or its subcommands if it has any. */
function withSubcommands(command: Command): Command[] {
  const below = command.commands.filter((each) => each.name() !== 'help');
  return below.length === 0 ? [command] : below;
}

function renderCommand(command: Command): string {
  const usage = command.createHelp().commandUsage(command);
  const title = usage.replace(/ \[options\].*$| <.*$/, '').replace('plant-store ', '');
  const { noteTexts, exampleLines } = command as CliCommand;
  const notes = command.name() === 'settings' ? ['See [configuration.md](configuration.md).'] : noteTexts.map(toProse);
  const parts = [
    `### ${title}`,
    toBlock(usage),
    toSentence(command.description()),
    ...renderArguments(command.registeredArguments),
    ...renderOptions(command.options),
    ...notes,
    'Examples:',
    toBlock(exampleLines.join('\n')),
  ];
  return parts.join('\n\n');
}

function renderArguments(all: readonly Argument[]): string[] {
  if (all.length === 0) return [];
  const rows = all.map((argument) => [
    toCode(argument.required ? `<${argument.name()}>` : `[${argument.name()}]`),
    argument.description + toChoices(argument.argChoices ?? []),
  ]);
  return [toTable(['argument', 'meaning'], rows)];
}

function renderOptions(declared: readonly Option[]): string[] {
  const all = declared.filter(({ hidden }) => !hidden);
  if (all.length === 0) return [];
  const rows = all.map((option) => [
    toCode(option.flags),
    option.defaultValue === undefined ? defaultIn(option.description) : toCode(String(option.defaultValue)),
    withoutDefault(option.description) + toChoices(option instanceof FixedOption ? option.values : []),
  ]);
  return [toTable(['option', 'default', 'meaning'], rows)];
}

/** Returns the default that a description states at its end, "(default: …)", or "required". */
function defaultIn(description: string): string {
  return / \((?:default: )?(.*)\)$/.exec(ENDING.exec(description)?.[0] ?? '')?.[1] ?? '';
}

function withoutDefault(description: string): string {
  return description.replace(ENDING, '');
}

function toChoices(values: readonly string[]): string {
  return values.length === 0 ? '' : ` (values: ${values.map(toCode).join(', ')})`;
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Returns notes as paragraphs. Indented lines become a block of code. */
function toProse(text: string): string {
  const code = text.split('\n').filter((line) => line.startsWith('  '));
  const prose = text.split('\n').filter((line) => !line.startsWith('  '));
  const paragraphs = prose.join('\n').trim();
  return code.length === 0 ? paragraphs : `${paragraphs}\n\n${toBlock(code.map((line) => line.trim()).join('\n'))}`;
}
