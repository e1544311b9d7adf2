// The commands add, get, edit and rm, which send requests to a server.

import { Option } from 'commander';
import type { PlantPatch, PlantStoreClient } from '../client/client.ts';
import { OWN_COMMAND } from '../config/command-name.ts';
import { PlantStoreError } from '../domain/errors.ts';
import type { Precondition } from '../domain/precondition.ts';
import { UsageError } from '../lib/user-error.ts';
import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { CommandError, EXIT_STATUS } from './exit-status.ts';
import { readCount, readPlantId } from './parse-arguments.ts';
import type { ServerOptions } from './profiles/choose-server.ts';
import { withServer } from './remote.ts';
import { type FormOptions, printAll } from './terminal/report.ts';

const ID = ['<id>', 'id of the plant, a 64-bit integer; it can be negative'] as const;
const IF_VERSION = ['--if-version <n>', 'only if the plant is at this version (see "get")'] as const;

interface Options extends ServerOptions, FormOptions {
  ifVersion?: string;
}

export function declareAdd(command: CliCommand): void {
  command
    .argument(...ID)
    .argument('<name>', 'name of the plant; put -- before a name that starts with a dash')
    .option('--tag <tag>', 'tag of the plant')
    .option('--replace', 'overwrite the plant that has this id')
    .serverOptions()
    .printsJsonOrTable()
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
      return show(context, options, `Plant ${id} stored.\n`, { ...record, version: seq });
    }
    const { seq, replayed } = await client.create({ id, ...plant }).catch(adviseOnTakenId);
    const words = replayed ? `Plant ${id} is already stored. Nothing changed.` : `Plant ${id} stored.`;
    return show(context, options, `${words}\n`, { id, ...plant, version: seq, replayed });
  });

  function adviseOnTakenId(error: unknown): never {
    if (!(error instanceof PlantStoreError) || error.code !== 'id_taken') throw error;
    throw new CommandError(
      `Id ${id} belongs to another plant. Use another id, change that plant with "${OWN_COMMAND} edit ${id} --name NAME", or add --replace.`,
      EXIT_STATUS.conflict,
    );
  }
}

export function declareGet(command: CliCommand): void {
  command
    .argument(...ID)
    .serverOptions()
    .printsJsonOrTable()
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
    .option('--name <name>', 'new name')
    .option('--tag <tag>', 'new tag')
    .addOption(noTagOption())
    .option(...IF_VERSION)
    .serverOptions()
    .printsJsonOrTable()
    .examples(
      'plant-store edit 7 --name "Monstera adansonii"',
      'plant-store edit 7 --no-tag',
      'plant-store edit 7 --tag climber --if-version 1042',
    )
    .runs(editPlant);
}

/** Returns --no-tag as an independent option. As commander's negation of --tag, the last one of both would win. */
function noTagOption(): Option {
  return Object.assign(new Option('--no-tag', 'remove the tag'), { negate: false }).conflicts('tag');
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
  if (Object.keys(patch).length === 0) throw new UsageError('Nothing to change. Add --name, --tag or --no-tag.');
  const condition = readCondition(options);
  await withServer(context, options, async (client) => {
    const { record, seq } = await client.patch(id, patch, condition);
    await show(context, options, `Plant ${id} updated.\n`, { ...record, version: seq });
  });
}

export function declareRemove(command: CliCommand): void {
  command
    .argument('<id...>', 'ids of the plants')
    .option(...IF_VERSION)
    .serverOptions()
    .printsJsonOrTable()
    .notes(`
If a plant does not exist, the others are still removed, and the exit status
is 3.`)
    .examples('plant-store rm 7', 'plant-store rm 7 8 -5', 'plant-store rm 7 --if-version 1042')
    .runs(removePlants);
}

/** Continues after a plant that does not exist. Any other failure ends the command, after it prints the removed ids. */
async function removePlants(context: CommandContext, idTexts: string[], options: Options): Promise<void> {
  const ids = idTexts.map(readPlantId);
  const condition = readCondition(options);
  if (condition.ifMatch && ids.length > 1) throw new UsageError('--if-version requires exactly one id');
  await withServer(context, options, async (client) => {
    const removed: bigint[] = [];
    const missing: bigint[] = [];
    try {
      for (const id of ids) ((await isRemoved(client, id, condition)) ? removed : missing).push(id);
    } finally {
      const words = removed.map((id) => `Plant ${id} removed.\n`).join('');
      if (removed.length + missing.length > 0) await show(context, options, words, { removed, missing });
    }
    if (missing.length === 0) return;
    throw new CommandError(`No plant has id ${missing.join(' or ')}`, EXIT_STATUS.notFound);
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
  return printAll(stdout, options, [json], () => words);
}
