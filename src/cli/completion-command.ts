// The declaration of plant-store completion.

import { Argument, type Command } from 'commander';
import { examples } from './declare.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

export function declareCompletion(program: Command): void {
  program
    .command('completion')
    .description('print what makes a shell complete commands and options with the Tab key')
    .addArgument(new Argument('<shell>', 'whose script to print').choices(SHELLS))
    .addHelpText(
      'after',
      `
Once for each shell, and again after an update; then open a new terminal:
  mkdir -p ~/.local/share/bash-completion/completions
  plant-store completion bash > ~/.local/share/bash-completion/completions/plant-store
  plant-store completion zsh > "\${fpath[1]}/_plant-store"
  plant-store completion fish > ~/.config/fish/completions/plant-store.fish
${examples(
  'source <(plant-store completion bash)   (for this terminal only)',
  'source <(plant-store completion zsh)',
  'plant-store completion fish | source',
)}`,
    )
    .action(async (shell: Shell) => {
      await (await import('./completion.ts')).printCompletion(program, shell);
    });
}
