// All tools there are: the same calls of the store as over HTTP, for an assistant.

import { z } from 'zod';
import type { Scope } from '../domain/names.ts';
import { type ListQuery, NewPlant, PlantPatch, type PlantStore } from '../domain/plant.ts';
import { strictObjectError, validate } from '../domain/validate.ts';
import {
  DeletedPlant,
  PAGE_ARGUMENTS,
  PlantId,
  RecordPage,
  StoredPlant,
  Version,
  VersionedRecord,
  Words,
  withExactId,
} from './schemas.ts';

interface Definition<Arguments, Given extends object> {
  name: string;
  title: string;
  description: string;
  scope: Scope;
  /** What it does to what is stored. */
  effect: 'reads' | 'adds' | 'overwrites';
  takes: z.ZodType<Arguments>;
  gives: z.ZodType<Given>;
  call(taken: Arguments, by: { store: PlantStore; tokenId: string }): Promise<Outcome<Given>>;
}

interface Outcome<Given> {
  /** Printed as JSON each: first what HTTP answers with, then what it says in headers. */
  texts: object[];
  /** Without a number that a reader of doubles would round. */
  structured: Given;
}

export type Tool = Definition<unknown, object>;

/** Lets the types of what is taken and given flow into the call. */
function tool<Arguments, Given extends object>(definition: Definition<Arguments, Given>): Tool {
  return definition as unknown as Tool;
}

const STRICT = { error: strictObjectError };
const { name: newName, tag: newTag } = PlantPatch.shape;

export const TOOLS: Tool[] = [
  tool({
    name: 'list_plants',
    title: 'List plants',
    description: 'Lists plants by ascending id, page by page: pass "next" as "cursor" until there is none.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject(PAGE_ARGUMENTS, STRICT),
    gives: RecordPage,
    call: (query, { store }) => page(query, store),
  }),
  tool({
    name: 'search_plants',
    title: 'Search plants',
    description: 'Finds plants by the beginnings of words in their names, by ascending id, page by page.',
    scope: 'plants:read',
    effect: 'reads',
    takes: z.strictObject({ q: Words, ...PAGE_ARGUMENTS }, STRICT),
    gives: RecordPage,
    call: (query, { store }) => page(query, store),
  }),
  tool({
    name: 'get_plant',
    title: 'Read a plant',
    description: 'Reads one plant by its id. Its "version" makes a later change safe: see update_plant.',
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
    name: 'create_plant',
    title: 'Create a plant',
    description:
      'Stores a plant under an id of your choice. The same plant sent again is stored once, so a retry is safe; a different plant under a taken id is refused.',
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
    title: 'Change a plant',
    description:
      'Changes the name or the tag of a plant: what is left out stays, "tag": null removes the tag. With "version" it is refused if somebody else has changed the plant since it was read.',
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
      'Deletes a plant for good; its id is free again. With "version" it is refused if somebody else has changed the plant since it was read.',
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

async function page(query: ListQuery, store: PlantStore): Promise<Outcome<z.output<typeof RecordPage>>> {
  const { records, next } = await store.list(query);
  const more = next === undefined ? [] : [{ next }];
  return { texts: [records, ...more], structured: { plants: records.map(withExactId), ...more[0] } };
}

function ifAt(version: number | undefined): { ifMatch?: number[] } {
  return version === undefined ? {} : { ifMatch: [version] };
}
