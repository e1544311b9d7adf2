// plant-store completion bash | zsh | fish: a script made from the commands themselves, so that it knows them all.

import type { Command } from 'commander';
import { toBash } from './completion-bash.ts';
import type { Shell } from './completion-command.ts';
import { toFish } from './completion-fish.ts';
import { toNodes } from './completion-tree.ts';
import { toZsh } from './completion-zsh.ts';
import { writeOut } from './terminal/write-out.ts';

const PRINTERS = { bash: toBash, zsh: toZsh, fish: toFish };

export function printCompletion(program: Command, shell: Shell): Promise<void> {
  return writeOut([PRINTERS[shell](toNodes(program))]);
}
