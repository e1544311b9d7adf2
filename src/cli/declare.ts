// Extends commander: commands have notes, examples and an action that receives the configuration.

import { Command, Option } from 'commander';
import type { CommandContext, CommandIo } from './command-io.ts';

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

  /** Adds the options that choose the server. `urlUse` and `profileUse` describe them. */
  serverOptions(
    urlUse = 'URL of the server (default: PLANT_STORE_URL, the profile, or this machine)',
    profileUse = 'saved profile to use (default: PLANT_STORE_PROFILE, or the current one)',
  ): this {
    const url = new Option('--url <url>', urlUse);
    return this.addOption(url).addOption(new Option('--profile <name>', profileUse).conflicts('url'));
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
