// The merge of two edits of one plant, field by field: what only one side changed is taken. What both changed
// differently must be chosen by the user.

import type { Plant, PlantPatch } from 'plant-store/client';

export const FIELDS = ['name', 'tag'] as const;
export type Field = (typeof FIELDS)[number];

/** The fields of a plant that a user edits. */
export type Texts = Pick<Plant, Field>;

/** The edited fields. A `tag` of `undefined` removes the tag, so a field that is not edited is absent. */
export type Draft = { [F in Field]?: Texts[F] | undefined };

export type Side = 'same' | 'mine' | 'theirs' | 'both';

/** Returns which side changed the field. An equal change on both sides needs no choice. */
export function changedBy(field: Field, base: Texts, theirs: Texts, mine: Texts): Side {
  const isMine = mine[field] !== base[field];
  const isTheirs = theirs[field] !== base[field];
  if (isMine && isTheirs) return mine[field] === theirs[field] ? 'same' : 'both';
  return isMine ? 'mine' : isTheirs ? 'theirs' : 'same';
}

/** Returns the fields that both sides changed, each to another value. */
export function conflicts(base: Texts, theirs: Texts, mine: Texts): Field[] {
  return FIELDS.filter((field) => changedBy(field, base, theirs, mine) === 'both');
}

export function withDraft(base: Texts, draft: Draft): Texts {
  return {
    name: draft.name ?? base.name,
    ...('tag' in draft ? draft.tag !== undefined && { tag: draft.tag } : base.tag !== undefined && { tag: base.tag }),
  };
}

/** Returns the fields of the draft that differ from the base. */
export function editedFields(base: Texts, draft: Draft): Field[] {
  return FIELDS.filter((field) => field in draft && withDraft(base, draft)[field] !== base[field]);
}

/** Returns the patch that changes these fields to the wanted texts. */
export function toPatch(fields: readonly Field[], wanted: Texts): PlantPatch {
  return {
    ...(fields.includes('name') && { name: wanted.name }),
    ...(fields.includes('tag') && { tag: wanted.tag ?? null }),
  };
}
