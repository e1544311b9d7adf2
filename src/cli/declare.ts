// How commands are declared: with examples, an action that gets the settings, and options with fixed values.

import { Command, Option } from 'commander';
import type { CommandContext, CommandIo } from './command-io.ts';

/** An option whose values shell completion offers. Commander's own choices know no lists, and reject with other words. */
export class FixedOption extends Option {
  readonly values: readonly string[];
  /** True if the option takes several of the values, separated by commas. */
  readonly isList: boolean;

  constructor(flags: string, description: string, values: readonly string[], { isList = false } = {}) {
    super(flags, description);
    this.values = values;
    this.isList = isList;
  }
}

/** A command that knows the streams it works with. Its subcommands know them, too. */
export class CliCommand extends Command {
  readonly io: CommandIo;

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

  /** Adds a text after the options in the help. */
  notes(text: string): this {
    return this.addHelpText('after', text);
  }

  /** Adds examples to the end of the help. */
  examples(...lines: string[]): this {
    return this.notes(`\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`);
  }

  /** Sets an action that first reads the settings, so that a wrong one is reported before anything is done. */
  runs<Args extends unknown[]>(action: (context: CommandContext, ...args: Args) => Promise<void>): this {
    return this.action(async (...args) => {
      const { readConfig } = await import('../config/config.ts');
      await action({ io: this.io, config: readConfig(this.io.env) }, ...(args as Args));
    });
  }
}
