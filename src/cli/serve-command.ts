// The declaration of plant-store serve.

import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { examples } from './declare.ts';

export function declareServe(program: Command): void {
  program
    .command('serve')
    .description('start the service (stop it with Ctrl-C or SIGTERM)')
    .addHelpText(
      'after',
      `
Where it listens, what it stores in and all else is set in the environment:
"plant-store settings" lists it. The first start on a terminal shows a token.
${examples(
  'plant-store serve',
  'PORT=8080 DATABASE_URL=sqlite:/var/lib/plant-store/plants.db plant-store serve',
  'DATABASE_URL=postgres://plants:secret@db.example.com/plants plant-store serve',
)}`,
    )
    .action(async () => {
      const config = readConfig();
      await (await import('./serve.ts')).serve(config);
    });
}
