// Schemas of the arguments and results of the MCP tools. Tools accept an id as a safe integer or as a string of digits
// and return it as a string of digits, because a host may parse numbers as doubles.

import { z } from 'zod';
import { Change } from '../domain/change.ts';
import { MAX_COUNTED, MAX_SORTED, MAX_WANTED_TAGS } from '../domain/list-order.ts';
import { MAX_QUERY_CHARS, MAX_QUERY_WORDS } from '../domain/name-search.ts';
import { SORTS } from '../domain/names.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../domain/page-size.ts';
import { MAX_ID, MIN_ID, Plant, PlantRecord } from '../domain/plant.ts';
import { Summary } from '../domain/plant-summary.ts';

const DIGITS = '^(0|-?[1-9][0-9]{0,18})$';

/**
 * An id. Larger numbers are rejected: a host that parses doubles sends 9007199254740992, another plant, for
 * 9007199254740993.
 */
export const PlantId = z
  .custom<number | string>(isPlantId, { error: ({ input }) => (input === undefined ? 'is missing' : whyNoId(input)) })
  .meta({
    anyOf: [
      { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: 'string', pattern: DIGITS },
    ],
    description: `Id of the plant, an integer from ${MIN_ID} to ${MAX_ID}. Pass an id beyond ±${Number.MAX_SAFE_INTEGER} as a string of digits, because a number may be rounded on the way.`,
  })
  .transform((id) => BigInt(id));

function isPlantId(id: unknown): boolean {
  if (typeof id !== 'string') return Number.isSafeInteger(id);
  return new RegExp(DIGITS).test(id) && BigInt(id) >= MIN_ID && BigInt(id) <= MAX_ID;
}

function whyNoId(id: unknown): string {
  const isLarge = typeof id === 'bigint' || Math.abs(Number(id)) > Number.MAX_SAFE_INTEGER;
  if (typeof id !== 'string' && isLarge) return 'may have been rounded, so pass it as a string of digits';
  return `must be an integer between ${MIN_ID} and ${MAX_ID}, as a number or as a string of digits`;
}

const COUNT = { error: 'must be an integer of at least 1' };

export const Version = z.int(COUNT).min(1, COUNT).optional().meta({
  description:
    'Version of the plant that get_plant returned. The call fails with error 41200 if the plant has changed since. Without it, the call applies to any version.',
});

const Text = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be a string') })
  .refine((text) => text.isWellFormed(), { error: 'must not contain a lone surrogate' });

export const Words = Text.meta({
  maxLength: MAX_QUERY_CHARS,
  description:
    'Search words. Each must be the beginning of a word in the name. Case, accents and word order are ignored: ' +
    `"mon del" finds "Monstera deliciosa". At most ${MAX_QUERY_CHARS} characters and ${MAX_QUERY_WORDS} words.`,
});

/** One tag, or several of which a plant has one. */
const Tags = z
  .custom<string | string[]>(isTags, {
    error: `must be a string or a list of 1 to ${MAX_WANTED_TAGS} strings, without lone surrogates`,
  })
  .meta({
    anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: MAX_WANTED_TAGS }],
    description: 'Return only plants whose tag equals this text exactly. A list matches any of its tags.',
  });

function isTags(given: unknown): boolean {
  const tags: unknown[] = [given].flat();
  const isText = (tag: unknown) => typeof tag === 'string' && tag.isWellFormed();
  return tags.length >= 1 && tags.length <= MAX_WANTED_TAGS && tags.every(isText);
}

const Flag = z.boolean({ error: 'must be true or false' }).optional();

const Limit = (what: string) =>
  z
    .int(COUNT)
    .min(1, COUNT)
    .optional()
    .meta({
      description: `Maximum number of ${what} to return. The default is ${DEFAULT_LIMIT} and the maximum is ${MAX_LIMIT}; a larger value counts as ${MAX_LIMIT}.`,
    })
    .transform((limit) => limit && Math.min(limit, MAX_LIMIT));

export const PAGE_ARGUMENTS = {
  tag: Tags.optional(),
  untagged: Flag.meta({ description: 'Also return plants without a tag. Without "tag", return only those.' }),
  sort: z
    .enum(SORTS, { error: `must be one of ${SORTS.join(', ')}` })
    .optional()
    .meta({
      description: `Order of the plants, "id" by default. A leading "-" reverses it. With a filter, any other order than "id" is limited to ${MAX_SORTED} matches.`,
    }),
  count: Flag.meta({ description: 'Also return "total", the number of plants that match' }),
  limit: Limit('plants'),
  cursor: Text.optional().meta({
    description:
      'Value of "next" from the previous page, to get the page after it. Keep all other arguments the same. Omit it for the first page.',
  }),
};

export const HISTORY_ARGUMENTS = { id: PlantId, limit: Limit('changes'), cursor: PAGE_ARGUMENTS.cursor };

const ExactId = z.string().meta({ pattern: DIGITS, description: 'Id of the plant, as a string of digits' });
const GivenVersion = z.int().meta({ description: 'Version of the plant. It changes each time the plant changes.' });

const GivenRecord = PlantRecord.extend({ id: ExactId }).meta({ id: undefined });

export const StoredPlant = z.object({
  id: ExactId,
  ...Plant.shape,
  version: GivenVersion,
  replayed: z.boolean().meta({ description: 'True if the same plant already existed and nothing was stored' }),
});
export const VersionedRecord = GivenRecord.extend({ version: GivenVersion });
export const DeletedPlant = z.object({ id: ExactId, deleted: z.literal(true) });

const Next = z.string().optional().meta({ description: 'Cursor of the next page. Absent on the last page.' });
export const RecordPage = z.object({
  plants: z.array(GivenRecord).meta({ description: 'Plants in the order of "sort"' }),
  next: Next,
  total: z
    .string()
    .optional()
    .meta({ description: `Number of plants that match, or ">${MAX_COUNTED}" if a filter matches more` }),
});

const GivenChange = Change.extend({ plant: z.object({ id: ExactId, ...Plant.shape }) }).meta({ id: undefined });
export const HistoryPage = z.object({
  changes: z.array(GivenChange).meta({ description: 'Changes, newest first, each with the plant after it' }),
  next: Next,
});
export const TagCounts = Summary.pick({ plants: true, untagged: true, tags: true }).meta({ id: undefined });

/** Returns the plant with its id as a string of digits. */
export function withExactId<T extends { id: bigint }>(plant: T): Omit<T, 'id'> & { id: string } {
  return { ...plant, id: String(plant.id) };
}
