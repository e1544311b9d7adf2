// The orders of a list. Every order ends with the id, so that each record has one place in it.

import { compareCodePoints } from '../lib/code-points.ts';
import { nameKey } from './name-search.ts';
import type { SORTS } from './names.ts';

export type Sort = (typeof SORTS)[number];

/** Maximum number of matches of a filter that can be sorted by anything but ascending id. */
export const MAX_SORTED = 10_000;

/** Maximum number of tags of a filter, which matches plants with any of them. */
export const MAX_WANTED_TAGS = 100;

/** Maximum number of matches of a filter that are counted. */
export const MAX_COUNTED = 100_000;

/** The place of a record in a list: the name key or the time of the last change, and the id. The key of an id is 0. */
export interface Place {
  key: string | number;
  id: bigint;
}

type Placed = { id: bigint; name: string; updated: string };

export function isDescending(sort: Sort): boolean {
  return sort.startsWith('-');
}

/** Returns the field that a sort uses. */
export function fieldOf(sort: Sort): 'id' | 'name' | 'updated' {
  return sort.replace('-', '') as 'id' | 'name' | 'updated';
}

/** Returns the opposite order. */
export function reverseOf(sort: Sort): Sort {
  return isDescending(sort) ? fieldOf(sort) : `-${fieldOf(sort)}`;
}

export function placeOf({ id, name, updated }: Placed, sort: Sort): Place {
  const field = fieldOf(sort);
  if (field === 'id') return { key: 0, id };
  return { key: field === 'name' ? nameKey(name) : Date.parse(updated), id };
}

/** Returns a negative number if `a` comes before `b` in ascending order. */
export function comparePlaces(a: Place, b: Place): number {
  const byKey = typeof a.key === 'string' ? compareCodePoints(a.key, b.key as string) : Number(a.key) - Number(b.key);
  return byKey || (a.id < b.id ? -1 : Number(a.id > b.id));
}
