// The MCP tools. Each calls the store in the same way as the HTTP route for the same task.

import { z } from 'zod';
import type { ChangeLog } from '../domain/change.ts';
import type { Scope } from '../domain/names.ts';
import { type ListQuery, NewPlant, PlantPatch, type PlantStore } from '../domain/plant.ts';
import type { Summary } from '../domain/plant-summary.ts';
import { ServiceStatus } from '../domain/service-status.ts';
import { strictObjectError, validate } from '../domain/validate.ts';
import type { Requester } from '../lib/semaphore.ts';
import {
  DeletedPlant,
  HISTORY_ARGUMENTS,
  HistoryPage,
  PAGE_ARGUMENTS,
  PlantId,
  RecordPage,
  StoredPlant,
  TagCounts,
  Version,
  VersionedRecord,
  Words,
  withExactId,
} from './schemas.ts';

/** Sources of the data that tools return. */
export interface ToolSources {
  store: PlantStore & Pick<ChangeLog, 'history'>;
  /** Returns the summary of the store, which can be a few seconds old. */
  readSummary(): Promise<Summary>;
  readStatus(): Promise<ServiceStatus>;
}

interface Definition<Arguments, Given extends object> {
  name: string;
  title: string;
  description: string;
  scope: Scope;
  /** Effect on the stored plants. */
  effect: 'reads' | 'adds' | 'overwrites';
  takes: z.ZodType<Arguments>;
  gives: z.ZodType<Given>;
  call(taken: Arguments, by: ToolSources & { tokenId: string; requester: Requester }): Promise<Outcome<Given>>;
}

interface Outcome<Given> {
  /** Values printed as JSON: first the body of the HTTP response, then the contents of its headers. */
  texts: object[];
  /** The result without numbers that a double would round. */
  structured: Given;
}

export type Tool = Definition<unknown, object>;

/** Infers the types of `call` from the schemas of the arguments and the result. */
function tool<Arguments, Given extends object>(definition: Definition<Arguments, Given>): Tool {
  return definition as unknown as Tool;
}

const STRICT = { error: strictObjectError };
const { name: newName, tag: newTag } = PlantPatch.shape;

export const TOOLS: Tool[] = [
  tool({
    name: 'list_plants',
    title: 'List plants',
    description:
      'Returns plants in ascending order of id or in the order of "sort", one page at a time. Use it to read all plants, the latest changes ("sort": "-updated"), or plants with given tags. To only count plants, set "count" and "limit": 1. To find plants by name, use search_plants. If the result has "next", pass it as "cursor" with the same other arguments to get the next page.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject(PAGE_ARGUMENTS, STRICT),
    gives: RecordPage,
    call: page,
  }),
  tool({
    name: 'search_plants',
    title: 'Search plants',
    description:
      'Finds plants by name. Each word in "q" must be the beginning of a word in the name. Returns plants in ascending order of id or in the order of "sort", one page at a time. If the result has "next", pass it as "cursor" with the same other arguments to get the next page.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject({ q: Words, ...PAGE_ARGUMENTS }, STRICT),
    gives: RecordPage,
    call: page,
  }),
  tool({
    name: 'get_plant',
    title: 'Get a plant',
    description:
      'Returns one plant by its id, with its current "version". Pass the version to update_plant or delete_plant to change only the plant that you read. Fails with error 40401 if no plant has the id.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject({ id: PlantId }, STRICT),
    gives: VersionedRecord,
    async call({ id }, { store }) {
      const { record, seq } = await store.get(id);
      return { texts: [record, { version: seq }], structured: { ...withExactId(record), version: seq } };
    },
  }),
  tool({
    name: 'get_plant_history',
    title: 'Get the history of a plant',
    description:
      'Returns the changes of one plant, newest first: when it changed, to what, and with which token. The history ends with the creation of the plant or with the oldest stored change. If the result has "next", pass it as "cursor" to get the next page. Fails with error 40401 if no plant has the id.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject(HISTORY_ARGUMENTS, STRICT),
    gives: HistoryPage,
    async call({ id, ...query }, { store }) {
      const { changes, next } = await store.history(id, query);
      const more = next === undefined ? {} : { next };
      const exact = changes.map((change) => ({ ...change, plant: withExactId(change.plant) }));
      return { texts: [changes, ...toTexts(more)], structured: { changes: exact, ...more } };
    },
  }),
  tool({
    name: 'list_tags',
    title: 'List tags',
    description:
      'Returns the most common tags with their numbers of plants, the number of all plants, and the number of plants without a tag. The numbers can be a few seconds old.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject({}, STRICT),
    gives: TagCounts,
    async call(_taken, { readSummary }) {
      const { plants, untagged, tags } = await readSummary();
      return { texts: [{ plants, untagged, tags }], structured: { plants, untagged, tags } };
    },
  }),
  tool({
    name: 'get_status',
    title: 'Get the status of the service',
    description:
      'Returns the version, the database, the numbers of plants and changes, pending deliveries, traffic per hour, the last backup and the limits of the service.',
    scope: 'admin',
    effect: 'reads',
    takes: z.strictObject({}, STRICT),
    gives: ServiceStatus,
    async call(_taken, { readStatus }) {
      const status = await readStatus();
      return { texts: [status], structured: status };
    },
  }),
  tool({
    name: 'create_plant',
    title: 'Create a plant',
    description:
      'Creates a plant with an id that you choose. If the same plant already exists, the call succeeds, stores nothing and returns "replayed": true, so a retry is safe. If the plant was deleted in between, a retry creates it again. If the id belongs to a different plant, the call fails with error 40009. To change an existing plant, use update_plant.',
    scope: 'plants:write',
    effect: 'adds',
    takes: z.strictObject({ ...NewPlant.shape, id: PlantId }, STRICT),
    gives: StoredPlant,
    async call(taken, { store, tokenId }) {
      const plant = validate(NewPlant, taken, 'The plant');
      const { seq, replayed } = await store.create(plant, { tokenId });
      const change = { version: seq, replayed };
      return { texts: [plant, change], structured: { ...withExactId(plant), ...change } };
    },
  }),
  tool({
    name: 'update_plant',
    title: 'Update a plant',
    description:
      'Changes the name or the tag of an existing plant and returns the updated plant. Fields that you omit keep their values. "tag": null removes the tag. With "version", the call fails with error 41200 if the plant has changed since you read it. Fails with error 40401 if no plant has the id.',
    scope: 'plants:write',
    effect: 'overwrites',
    takes: z.strictObject({ id: PlantId, name: newName, tag: newTag, version: Version }, STRICT),
    gives: VersionedRecord,
    async call({ id, version, ...changes }, { store, tokenId }) {
      const patch = validate(PlantPatch, changes, 'The change');
      const { record, seq } = await store.patch(id, patch, { tokenId, ...ifAt(version) });
      return { texts: [record, { version: seq }], structured: { ...withExactId(record), version: seq } };
    },
  }),
  tool({
    name: 'delete_plant',
    title: 'Delete a plant',
    description:
      'Deletes a plant permanently. Its id can then be used for a new plant. With "version", the call fails with error 41200 if the plant has changed since you read it. Fails with error 40401 if no plant has the id.',
    scope: 'plants:write',
    effect: 'overwrites',
    takes: z.strictObject({ id: PlantId, version: Version }, STRICT),
    gives: DeletedPlant,
    async call({ id, version }, { store, tokenId }) {
      await store.delete(id, { tokenId, ...ifAt(version) });
      return { texts: [{ id, deleted: true }], structured: { id: String(id), deleted: true } };
    },
  }),
];

async function page(
  { count, ...query }: ListQuery & { count?: boolean | undefined },
  { store, requester }: { store: PlantStore; requester: Requester },
): Promise<Outcome<z.output<typeof RecordPage>>> {
  const [{ records, next }, total] = await Promise.all([
    store.list(query, requester),
    count ? store.count(query, requester) : undefined,
  ]);
  const more = {
    ...(next !== undefined && { next }),
    ...(total && { total: `${total.isMore ? '>' : ''}${total.plants}` }),
  };
  return { texts: [records, ...toTexts(more)], structured: { plants: records.map(withExactId), ...more } };
}

/** Returns the texts of the contents of headers, unless there are none. */
function toTexts(headers: object): object[] {
  return Object.keys(headers).length === 0 ? [] : [headers];
}

function ifAt(version: number | undefined): { ifMatch?: number[] } {
  return version === undefined ? {} : { ifMatch: [version] };
}
