// plant-store completion bash | zsh | fish: a script made from the commands themselves, so that it knows them all.

import { Argument } from 'commander';
import type { CliCommand } from './declare.ts';
import { writeOut } from './terminal/report.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

export function declareCompletion(command: CliCommand): void {
  command
    .addArgument(new Argument('<shell>', 'whose script to print').choices(SHELLS))
    .notes(`
Once for each shell, and again after an update; then open a new terminal:
  mkdir -p ~/.local/share/bash-completion/completions
  plant-store completion bash > ~/.local/share/bash-completion/completions/plant-store
  plant-store completion zsh > "\${fpath[1]}/_plant-store"
  plant-store completion fish > ~/.config/fish/completions/plant-store.fish`)
    .examples(
      'source <(plant-store completion bash)   (for this terminal only)',
      'source <(plant-store completion zsh)',
      'plant-store completion fish | source',
    )
    .action(async (shell: (typeof SHELLS)[number]) => {
      const { toScript } = await import('./completion-script.ts');
      await writeOut(command.io.stdout, [toScript(command.parent as CliCommand, shell)]);
    });
}
