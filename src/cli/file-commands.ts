// The declaration of the commands that read and write files: import, export, backup, restore.

import type { Command, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import { FORMATS } from '../domain/names.ts';
import { examples, optionWith } from './declare.ts';

export function declareFiles(program: Command): void {
  program
    .command('import')
    .description('create plants from a file; run it again to go on after an interruption')
    .argument('<file>', 'NDJSON or CSV with the header row id,name,tag; - is standard input')
    .addOption(formatOption())
    .option('--url <url>', 'of a running server, with a token in PLANT_STORE_TOKEN (default: into the database)')
    .addHelpText(
      'after',
      `
Every line that fails is named on standard error, and the exit status is 1.
${examples(
  'plant-store import species.csv',
  'zcat plants.ndjson.gz | plant-store import -',
  'PLANT_STORE_TOKEN=pst_… plant-store import species.csv --url https://plants.example.com',
)}`,
    )
    .action(async (file, options) => {
      const config = readConfig();
      await (await import('./import.ts')).importFile(config, file, options);
    });

  program
    .command('export')
    .description('write all plants, as they are at one moment, into a file')
    .argument('<file>', 'is there, or replaced, only when it is whole; - is standard output')
    .addOption(formatOption())
    .option('--url <url>', 'of a running server, with a token in PLANT_STORE_TOKEN (default: from the database)')
    .addHelpText('after', examples('plant-store export plants.csv', 'plant-store export - | gzip > plants.ndjson.gz'))
    .action(async (file, options) => {
      const config = readConfig();
      await (await import('./export.ts')).exportFile(config, file, options);
    });

  program
    .command('backup')
    .description('make a consistent copy of the store, also while a server runs on it')
    .argument('<file>', 'a new file')
    .addHelpText('after', examples('plant-store backup "plants-$(date +%F).db"'))
    .action(async (file) => {
      const config = readConfig();
      await (await import('./backup.ts')).backUp(config, file);
    });

  program
    .command('restore')
    .description('put a backup where DATABASE_URL says; there must be no store yet')
    .argument('<file>', 'a backup')
    .addHelpText(
      'after',
      `
Stop the server and move the old store away first. Tokens are those of the
backup: what was revoked since works again. Whoever follows the change log and
has seen what came after the backup has to begin anew with an export: the
service tells them so.
${examples('mv data/plants.db data/plants-old.db', 'plant-store restore plants-monday.db')}`,
    )
    .action(async (file) => {
      const config = readConfig();
      await (await import('./backup.ts')).restore(config, file);
    });
}

function formatOption(): Option {
  return optionWith('--format <format>', 'ndjson or csv (default: as the name of the file ends; ndjson for -)', {
    values: FORMATS,
  });
}
