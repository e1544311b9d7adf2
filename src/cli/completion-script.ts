// The completion script of a shell, made from the commands of the program.

import type { Command } from 'commander';
import { toBash } from './completion-bash.ts';
import { toFish } from './completion-fish.ts';
import { toNodes } from './completion-tree.ts';
import { toZsh } from './completion-zsh.ts';

const PRINTERS = { bash: toBash, zsh: toZsh, fish: toFish };

export function toScript(program: Command, shell: keyof typeof PRINTERS): string {
  return PRINTERS[shell](toNodes(program));
}
