// Extends commander: commands have notes, examples and an action that receives the configuration.

import { Command, Option } from 'commander';
import type { CommandContext, CommandIo } from './command-io.ts';

/** Says which store a command uses. */
const STORE_RULE = `
Without these options, the command uses the server in PLANT_STORE_URL or
PLANT_STORE_PROFILE, or that of the current profile unless PLANT_STORE_TOKEN is
set. Otherwise it opens the database. Its first line of output names the store.
Set DATABASE_URL instead of --database if the URL has a password.`;

/** An option with fixed values for shell completion. Commander's choices support no lists and have other messages. */
export class FixedOption extends Option {
  readonly values: readonly string[];
  /** True if the option accepts several values, separated by commas. */
  readonly isList: boolean;

  constructor(flags: string, description: string, values: readonly string[], { isList = false } = {}) {
    super(flags, description);
    this.values = values;
    this.isList = isList;
  }
}

/** A command that holds its streams and environment and passes them to its subcommands. */
export class CliCommand extends Command {
  readonly io: CommandIo;
  /** Paragraphs of the help after the options, as given. */
  readonly noteTexts: string[] = [];
  readonly exampleLines: string[] = [];

  constructor(name: string, io: CommandIo) {
    super(name);
    this.io = io;
  }

  override createCommand(name: string): CliCommand {
    return new CliCommand(name, this.io);
  }

  subcommand(name: string, description: string): CliCommand {
    return this.command(name).description(description);
  }

  /** Adds the options that choose the server. */
  serverOptions(): this {
    const url = new Option('--url <url>', 'URL of the server (default: PLANT_STORE_URL, the profile, or this machine)');
    const profile = new Option(
      '--profile <name>',
      'saved profile to use (default: PLANT_STORE_PROFILE, or the current one)',
    );
    return this.addOption(url).addOption(profile.conflicts('url'));
  }

  /** Adds the options that choose a server or the database. Without `hasUrl`, --url has another meaning. */
  storeOptions({ hasUrl = true } = {}): this {
    if (hasUrl) this.option('--url <url>', 'use the server at this URL');
    const profile = new Option('--profile <name>', 'use the server of this saved profile');
    const database = new Option('--database [url]', 'open the database in DATABASE_URL, or at this URL');
    return this.addOption(profile.conflicts('url'))
      .addOption(database.conflicts(hasUrl ? ['url', 'profile'] : ['profile']))
      .notes(STORE_RULE);
  }

  /** Adds text to the help, after the options. */
  notes(text: string): this {
    this.noteTexts.push(text);
    return this.addHelpText('after', text);
  }

  /** Adds examples to the end of the help, one per line. */
  examples(...lines: string[]): this {
    this.exampleLines.push(...lines);
    return this.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }

  /** Adds --json and --table, which choose the form of the output. A list prints one object, `each`, per line of JSON. */
  printsJsonOrTable(each?: string): this {
    const json = each === undefined ? 'print JSON' : `print NDJSON, one ${each} per line`;
    const table = each === undefined ? 'print text' : 'print a table';
    return this.addOption(new Option('--json', `${json} (the default when piped)`)).addOption(
      new Option('--table', `${table} (the default on a terminal)`).conflicts('json'),
    );
  }

  /** Sets the action. It reads the configuration first, to report an invalid setting before any work starts. */
  runs<Args extends unknown[]>(action: (context: CommandContext, ...args: Args) => Promise<void>): this {
    return this.action(async (...args) => {
      const { readConfig } = await import('../config/config.ts');
      await action({ io: this.io, config: readConfig(this.io.env) }, ...(args as Args));
    });
  }
}
