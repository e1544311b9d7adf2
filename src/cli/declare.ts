// Parts of the declaration of a command: its action, its examples, and options with fixed values.

import { Option } from 'commander';
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

/** Returns examples for the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

/** Returns an action that first reads the settings, so that a wrong one is reported before anything is done. */
export function withConfig<Args extends unknown[]>(
  io: CommandIo,
  action: (context: CommandContext, ...args: Args) => Promise<void>,
): (...args: Args) => Promise<void> {
  return async (...args) => {
    const { readConfig } = await import('../config/config.ts');
    await action({ io, config: readConfig(io.env) }, ...args);
  };
}
