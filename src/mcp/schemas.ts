// What tools take and give. An id comes in as a safe integer or digits and goes out as digits: hosts may read doubles.

import { z } from 'zod';
import { MAX_QUERY_CHARS, MAX_QUERY_WORDS } from '../domain/name-search.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../domain/page-size.ts';
import { MAX_ID, MIN_ID, Plant, PlantRecord } from '../domain/plant.ts';

const DIGITS = '^(0|-?[1-9][0-9]{0,18})$';

/** A host may have read a larger number as a double: 9007199254740993 would come as 9007199254740992, which is another plant. */
export const PlantId = z
  .custom<number | string>(isPlantId, { error: ({ input }) => (input === undefined ? 'is missing' : whyNoId(input)) })
  .meta({
    anyOf: [
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: DIGITS },
    ],
    description: `Identification number of the plant, ${MIN_ID} to ${MAX_ID}; beyond ±${Number.MAX_SAFE_INTEGER} as a string of digits, so that nothing on its way rounds it`,
  })
  .transform((id) => BigInt(id));

function isPlantId(id: unknown): boolean {
  if (typeof id !== 'string') return Number.isSafeInteger(id);
  return new RegExp(DIGITS).test(id) && BigInt(id) >= MIN_ID && BigInt(id) <= MAX_ID;
}

function whyNoId(id: unknown): string {
  const isLarge = typeof id === 'bigint' || Math.abs(Number(id)) > Number.MAX_SAFE_INTEGER;
  if (typeof id !== 'string' && isLarge) return 'may have been rounded on its way: give it as a string of digits';
  return `must be an integer between ${MIN_ID} and ${MAX_ID}, as a number or as a string of digits`;
}

const COUNT = { error: 'must be a whole number of at least 1' };

export const Version = z.int(COUNT).min(1, COUNT).optional().meta({
  description: 'Only if the plant is still at this version, as get_plant gave it. Without it, whatever it is at',
});

const Text = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') })
  .refine((text) => text.isWellFormed(), { error: 'must not contain a lone surrogate' });

export const Words = Text.meta({
  maxLength: MAX_QUERY_CHARS,
  description:
    'Words, each of which must begin a word of the name, whatever its case and accents: "mon del" finds Monstera deliciosa. ' +
    `At most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words`,
});

export const PAGE_ARGUMENTS = {
  tag: Text.optional().meta({ description: 'Only plants with exactly this tag' }),
  limit: z
    .int(COUNT)
    .min(1, COUNT)
    .optional()
    .meta({ description: `How many at most: ${DEFAULT_LIMIT} by default; over ${MAX_LIMIT} counts as ${MAX_LIMIT}` })
    .transform((limit) => limit && Math.min(limit, MAX_LIMIT)),
  cursor: Text.optional().meta({
    description: 'Where the page begins: "next" of the page before, with the same filter',
  }),
};

const ExactId = z.string().meta({ pattern: DIGITS, description: 'Identification number of the plant, as digits' });
const GivenVersion = z.int().meta({ description: 'Number of the change that made this version of the plant' });

const GivenRecord = PlantRecord.extend({ id: ExactId }).meta({ id: undefined });

export const StoredPlant = z.object({
  id: ExactId,
  ...Plant.shape,
  version: GivenVersion,
  replayed: z.boolean().meta({ description: 'The same plant was there already: nothing was stored' }),
});
export const VersionedRecord = GivenRecord.extend({ version: GivenVersion });
export const DeletedPlant = z.object({ id: ExactId, deleted: z.literal(true) });
export const RecordPage = z.object({
  plants: z.array(GivenRecord).meta({ description: 'By ascending id' }),
  next: z.string().optional().meta({ description: 'Cursor of the next page; not there on the last one' }),
});

/** The same with its id as digits. */
export function withExactId<T extends { id: bigint }>(plant: T): Omit<T, 'id'> & { id: string } {
  return { ...plant, id: String(plant.id) };
}
