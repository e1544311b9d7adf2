// How commands say what they take: options with fixed values, which shell completion offers, and examples.

import { Option } from 'commander';

export interface FixedValues {
  values: readonly string[];
  /** Several of them, with commas. */
  isList: boolean;
}

const fixedValues = new WeakMap<Option, FixedValues>();

/** Not commander's choices: those know no lists, and their refusals are not ours. */
export function optionWith(flags: string, description: string, fixed: Partial<FixedValues>): Option {
  const option = new Option(flags, description);
  fixedValues.set(option, { values: [], isList: false, ...fixed });
  return option;
}

export function fixedValuesOf(option: Option): FixedValues | undefined {
  return fixedValues.get(option);
}

/** For the end of a command's help. */
export function examples(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}
