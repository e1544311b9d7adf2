// What can follow each command on the command line: its subcommands, its options and their values.

import type { Command } from 'commander';
import { FixedOption } from './declare.ts';

export interface Named {
  name: string;
  description: string;
}

export interface CompletionOption extends Named {
  takesValue: boolean;
  values: readonly string[];
  /** Several values, with commas. */
  isList: boolean;
}

export interface CompletionNode {
  /** Words after `plant-store`, each with a blank before it: ` token create`. */
  path: string;
  commands: Named[];
  options: CompletionOption[];
  /** Of its argument, where they are fixed. */
  values: readonly string[];
  takesFile: boolean;
}

export function toNodes(command: Command, path = ''): CompletionNode[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const names = commands.map((each) => each.name()).filter((name) => name !== 'help');
  const node = {
    path,
    commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
    options: help.visibleOptions(command).map((option) => ({
      name: option.long ?? option.flags,
      description: option.description,
      takesValue: option.required || option.optional,
      values: option instanceof FixedOption ? option.values : [],
      isList: option instanceof FixedOption && option.isList,
    })),
    values: command.registeredArguments[0]?.argChoices ?? [],
    takesFile: command.registeredArguments[0]?.name() === 'file',
  };
  const below = commands.flatMap((each): CompletionNode[] => {
    const [own, ...others] = toNodes(each, `${path} ${each.name()}`) as [CompletionNode, ...CompletionNode[]];
    return [each.name() === 'help' ? { ...own, values: names } : own, ...others];
  });
  return [node, ...below];
}

/** As all three shells read it. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function quoteAll(texts: readonly string[]): string {
  return texts.map(quote).join(' ');
}
