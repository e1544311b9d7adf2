// The declaration of the commands on plants of a running server; plants.ts, list.ts and watch.ts do the work.

import { type Command, Option } from 'commander';
import { readConfig } from '../config/config.ts';
import { examples, optionWith } from './declare.ts';

const ID = ['<id>', 'of the plant: any whole number of 64 bits, also a negative one'] as const;
const JSON_OPTION = ['--json', 'as JSON, which is the default when piped'] as const;
const IF_VERSION = ['--if-version <n>', 'only if the plant is at this version, as "get" shows it'] as const;

export function declarePlants(program: Command): void {
  program
    .command('add')
    .description('store a plant; the same once more changes nothing')
    .argument(...ID)
    .argument('<name>', 'any text; before one that begins with a dash write --')
    .option('--tag <tag>', 'what type of plant it is')
    .option('--replace', 'also if the id belongs to another plant, which is then gone')
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'plant-store add 7 "Monstera deliciosa" --tag tropical',
        'plant-store add 7 "Monstera adansonii" --replace',
        'plant-store add 8 -- -odd-name-',
      ),
    )
    .action(async (id, name, options) => {
      const config = readConfig();
      await (await import('./plants.ts')).addPlant(config, id, name, options);
    });

  program
    .command('get')
    .description('show a plant')
    .argument(...ID)
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'plant-store get 7',
        'plant-store get -5',
        'plant-store get 7 --json',
        'plant-store get 7 | jq -r .name',
      ),
    )
    .action(async (id, options) => {
      const config = readConfig();
      await (await import('./plants.ts')).getPlant(config, id, options);
    });

  program
    .command('list')
    .description('show plants by ascending id; find them by words or tag')
    .option('--tag <tag>', 'only those with exactly this tag')
    .option('--search <words>', 'only those in whose name each of these words begins a word')
    .option('--limit <n>', 'at most so many (default: 100)')
    .addOption(optionWith('--all', 'however many there are', {}).conflicts('limit'))
    .addOption(urlOption())
    .option('--json', 'as JSON, a plant a line, which is the default when piped')
    .addHelpText(
      'after',
      `
When there are more than the limit, a line on standard error says so.
${examples(
  'plant-store list',
  'plant-store list --search "mon del" --tag tropical',
  "plant-store list --all | jq -r 'select(.tag == null) | .id'",
)}`,
    )
    .action(async (options) => {
      const config = readConfig();
      await (await import('./list.ts')).listPlants(config, options);
    });

  program
    .command('edit')
    .description('change the name or the tag of a plant')
    .argument(...ID)
    .option('--name <name>', 'the new name')
    .option('--tag <tag>', 'the new tag')
    .addOption(noTagOption())
    .option(...IF_VERSION)
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      examples(
        'plant-store edit 7 --name "Monstera adansonii"',
        'plant-store edit 7 --no-tag',
        'plant-store edit 7 --tag climber --if-version 1042   (which nobody else has changed since)',
      ),
    )
    .action(async (id, options) => {
      const config = readConfig();
      await (await import('./plants.ts')).editPlant(config, id, options);
    });

  program
    .command('rm')
    .description('remove plants; their ids are free again')
    .argument('<id...>', 'of each plant')
    .option(...IF_VERSION)
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      `
One that is not there stops none of the others, and the exit status is 3.
${examples('plant-store rm 7', 'plant-store rm 7 8 -5', 'plant-store rm 7 --if-version 1042')}`,
    )
    .action(async (ids, options) => {
      const config = readConfig();
      await (await import('./plants.ts')).removePlants(config, ids, options);
    });

  program
    .command('watch')
    .description('show each change when it happens, until Ctrl-C')
    .option('--after <seq>', 'first those that came after this one; 0 is all there are (default: only new ones)')
    .addOption(urlOption())
    .option('--json', 'as JSON, a change a line, which is the default when piped')
    .addHelpText(
      'after',
      `
When the server goes away it waits until it is back, and goes on where it was:
none is left out.
${examples(
  'plant-store watch',
  'plant-store watch --after 1042',
  'plant-store watch | jq --unbuffered -r \'select(.type == "plant.deleted") | .plant.id\'',
)}`,
    )
    .action(async (options) => {
      const config = readConfig();
      await (await import('./watch.ts')).watchChanges(config, options);
    });
}

/** One of its own: as the negation of --tag, which commander takes it for, the last of both would count. */
function noTagOption(): Option {
  return Object.assign(new Option('--no-tag', 'take the tag away'), { negate: false }).conflicts('tag');
}

function urlOption(): Option {
  return optionWith('--url <url>', 'where the server is (default: PLANT_STORE_URL, or on this machine)', {});
}
