// plant-store add | get | edit | rm, on a running server.

import type { PlantPatch, PlantStoreClient, Versioned } from '../client/client.ts';
import type { Config } from '../config/config.ts';
import { PlantStoreError } from '../domain/errors.ts';
import type { Precondition } from '../domain/precondition.ts';
import { UsageError } from '../lib/user-error.ts';
import { CommandError, EXIT_STATUS } from './exit-status.ts';
import { readCount, readPlantId } from './numbers.ts';
import { READS, type ServerOptions, withServer } from './remote.ts';
import { describePlant } from './terminal/plant-table.ts';
import { jsonLine, wantsJson } from './terminal/report.ts';
import { writeOut } from './terminal/write-out.ts';

interface Options extends ServerOptions {
  json?: boolean;
  ifVersion?: string;
}

export async function addPlant(
  config: Config,
  idText: string,
  name: string,
  options: Options & { tag?: string; replace?: true },
): Promise<void> {
  const id = readPlantId(idText);
  const plant = { name, ...(options.tag !== undefined && { tag: options.tag }) };
  await withServer(config, options, async (client) => {
    if (options.replace) return showVersion(await client.put(id, plant), options, 'is stored');
    const { seq, replayed } = await client.create({ id, ...plant }).catch(adviseOnTakenId);
    const words = replayed ? 'was there already, the same' : 'is stored';
    return show(options, `Plant ${id} ${words}\n`, { id, ...plant, version: seq, replayed });
  });

  function adviseOnTakenId(error: unknown): never {
    if (!(error instanceof PlantStoreError) || error.code !== 'id_taken') throw error;
    throw new CommandError(
      `Id ${id} belongs to another plant: take another id, change that plant with "edit ${id}", or add --replace`,
      EXIT_STATUS.conflict,
    );
  }
}

export async function getPlant(config: Config, idText: string, options: Options): Promise<void> {
  const id = readPlantId(idText);
  await withServer(
    config,
    options,
    async (client) => {
      const { record, seq } = await client.get(id);
      await show(options, describePlant(record, seq), { ...record, version: seq });
    },
    READS,
  );
}

export async function editPlant(
  config: Config,
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
  await withServer(config, options, async (client) => {
    await showVersion(await client.patch(id, patch, condition), options, 'is changed');
  });
}

/** Goes on after one that is not there; what else happens ends it, after it has told what is done. */
export async function removePlants(config: Config, idTexts: string[], options: Options): Promise<void> {
  const ids = idTexts.map(readPlantId);
  const condition = readCondition(options);
  if (condition.ifMatch && ids.length > 1) throw new UsageError('--if-version goes with one id only');
  await withServer(config, options, async (client) => {
    const removed: bigint[] = [];
    const missing: bigint[] = [];
    try {
      for (const id of ids) ((await isRemoved(client, id, condition)) ? removed : missing).push(id);
    } finally {
      const words = removed.map((id) => `Plant ${id} is removed\n`).join('');
      if (removed.length + missing.length > 0) await show(options, words, { removed, missing });
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

function showVersion({ record, seq }: Versioned, options: Options, words: string): Promise<void> {
  return show(options, `Plant ${record.id} ${words}\n`, { ...record, version: seq });
}

function show(options: Options, words: string, json: object): Promise<void> {
  return writeOut([wantsJson(options) ? jsonLine(json) : words]);
}
