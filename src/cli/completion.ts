// plant-store completion bash | zsh | fish: a script made from the commands themselves, so that it knows them all.

import { Argument, type Command } from 'commander';
import type { CommandIo } from './command-io.ts';
import { examples } from './declare.ts';
import { writeOut } from './terminal/write-out.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function declareCompletion(command: Command, io: CommandIo): void {
  command
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
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { toScript } = await import('./completion-script.ts');
      await writeOut(io.stdout, [toScript(command.parent as Command, shell)]);
    });
}
