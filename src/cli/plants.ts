// plant-store add | get | edit | rm, on a running server.

import { Option } from 'commander';
import type { PlantPatch, PlantStoreClient } from '../client/client.ts';
import { PlantStoreError } from '../domain/errors.ts';
import type { Precondition } from '../domain/precondition.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { CommandError, EXIT_STATUS } from './exit-status.ts';
import { readCount, readPlantId } from './parse-arguments.ts';
import { type ServerOptions, urlOption, withServer } from './remote.ts';
import { jsonLine, wantsJson, writeOut } from './terminal/report.ts';

const ID = ['<id>', 'of the plant: any whole number of 64 bits, also a negative one'] as const;
const JSON_OPTION = ['--json', 'as JSON, which is the default when piped'] as const;
const IF_VERSION = ['--if-version <n>', 'only if the plant is at this version, as "get" shows it'] as const;

interface Options extends ServerOptions {
  json?: boolean;
  ifVersion?: string;
}

export function declareAdd(command: CliCommand): void {
  command
    .argument(...ID)
    .argument('<name>', 'any text; before one that begins with a dash write --')
    .option('--tag <tag>', 'what type of plant it is')
    .option('--replace', 'also if the id belongs to another plant, which is then gone')
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .examples(
      'plant-store add 7 "Monstera deliciosa" --tag tropical',
      'plant-store add 7 "Monstera adansonii" --replace',
      'plant-store add 8 -- -odd-name-',
    )
    .runs(addPlant);
}

async function addPlant(
  context: CommandContext,
  idText: string,
  name: string,
  options: Options & { tag?: string; replace?: true },
): Promise<void> {
  const id = readPlantId(idText);
  const plant = { name, ...(options.tag !== undefined && { tag: options.tag }) };
  await withServer(context, options, async (client) => {
    if (options.replace) {
      const { record, seq } = await client.put(id, plant);
      return show(context, options, `Plant ${id} is stored\n`, { ...record, version: seq });
    }
    const { seq, replayed } = await client.create({ id, ...plant }).catch(adviseOnTakenId);
    const words = replayed ? 'was there already, the same' : 'is stored';
    return show(context, options, `Plant ${id} ${words}\n`, { id, ...plant, version: seq, replayed });
  });

  function adviseOnTakenId(error: unknown): never {
    if (!(error instanceof PlantStoreError) || error.code !== 'id_taken') throw error;
    throw new CommandError(
      `Id ${id} belongs to another plant: take another id, change that plant with "edit ${id}", or add --replace`,
      EXIT_STATUS.conflict,
    );
  }
}

export function declareGet(command: CliCommand): void {
  command
    .argument(...ID)
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .examples('plant-store get 7', 'plant-store get -5', 'plant-store get 7 --json', 'plant-store get 7 | jq -r .name')
    .runs(getPlant);
}

async function getPlant(context: CommandContext, idText: string, options: Options): Promise<void> {
  const id = readPlantId(idText);
  const read = async (client: PlantStoreClient) => {
    const { record, seq } = await client.get(id);
    const { describePlant } = await import('./terminal/plant-table.ts');
    await show(context, options, describePlant(record, seq, context.io.stdout), { ...record, version: seq });
  };
  await withServer(context, options, read, { isRead: true });
}

export function declareEdit(command: CliCommand): void {
  command
    .argument(...ID)
    .option('--name <name>', 'the new name')
    .option('--tag <tag>', 'the new tag')
    .addOption(noTagOption())
    .option(...IF_VERSION)
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .examples(
      'plant-store edit 7 --name "Monstera adansonii"',
      'plant-store edit 7 --no-tag',
      'plant-store edit 7 --tag climber --if-version 1042   (which nobody else has changed since)',
    )
    .runs(editPlant);
}

/** An option of its own: commander takes it for the negation of --tag, and then the last of both would count. */
function noTagOption(): Option {
  return Object.assign(new Option('--no-tag', 'take the tag away'), { negate: false }).conflicts('tag');
}

async function editPlant(
  context: CommandContext,
  idText: string,
  options: Options & { name?: string; tag?: string; noTag?: true },
): Promise<void> {
  const id = readPlantId(idText);
  const { name, tag, noTag } = options;
  const patch: PlantPatch = {
    ...(name !== undefined && { name }),
    ...(tag !== undefined && { tag }),
    ...(noTag && { tag: null }),
  };
  if (Object.keys(patch).length === 0) throw new UsageError('Say what to change: --name, --tag or --no-tag');
  const condition = readCondition(options);
  await withServer(context, options, async (client) => {
    const { record, seq } = await client.patch(id, patch, condition);
    await show(context, options, `Plant ${id} is changed\n`, { ...record, version: seq });
  });
}

export function declareRemove(command: CliCommand): void {
  command
    .argument('<id...>', 'of each plant')
    .option(...IF_VERSION)
    .addOption(urlOption())
    .option(...JSON_OPTION)
    .notes(`
One that is not there stops none of the others, and the exit status is 3.`)
    .examples('plant-store rm 7', 'plant-store rm 7 8 -5', 'plant-store rm 7 --if-version 1042')
    .runs(removePlants);
}

/** Continues after a plant that does not exist. Any other failure ends it, once it has printed what is removed. */
async function removePlants(context: CommandContext, idTexts: string[], options: Options): Promise<void> {
  const ids = idTexts.map(readPlantId);
  const condition = readCondition(options);
  if (condition.ifMatch && ids.length > 1) throw new UsageError('--if-version goes with one id only');
  await withServer(context, options, async (client) => {
    const removed: bigint[] = [];
    const missing: bigint[] = [];
    try {
      for (const id of ids) ((await isRemoved(client, id, condition)) ? removed : missing).push(id);
    } finally {
      const words = removed.map((id) => `Plant ${id} is removed\n`).join('');
      if (removed.length + missing.length > 0) await show(context, options, words, { removed, missing });
    }
    if (missing.length === 0) return;
    const names = missing.length === 1 ? `the id ${missing}` : `one of the ids ${missing.join(', ')}`;
    throw new CommandError(`No plant has ${names}`, EXIT_STATUS.notFound);
  });
}

async function isRemoved(client: PlantStoreClient, id: bigint, condition: Precondition): Promise<boolean> {
  try {
    await client.delete(id, condition);
    return true;
  } catch (error) {
    if (error instanceof PlantStoreError && error.code === 'not_found') return false;
    throw error;
  }
}

function readCondition({ ifVersion }: Options): Precondition {
  return ifVersion === undefined ? {} : { ifMatch: [readCount('--if-version', ifVersion, 1)] };
}

function show({ io: { stdout } }: CommandContext, options: Options, words: string, json: object): Promise<void> {
  return writeOut(stdout, [wantsJson(stdout, options) ? jsonLine(stdout, json) : words]);
}
