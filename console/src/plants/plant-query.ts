// What the list shows: search, tags and sort, as parameters of the URL.

import type { Filter, ListQuery } from 'plant-store/client';
import { useMemo } from 'preact/hooks';
import { currentView, type Parameters, replaceView, useView } from '../view.ts';

export type Sort = NonNullable<ListQuery['sort']>;

export interface PlantQuery {
  q: string;
  tags: string[];
  isUntagged: boolean;
  sort: Sort;
}

export const SORT_WORDS: Record<Sort, string> = {
  '-updated': 'newest change first',
  updated: 'oldest change first',
  name: 'by name, A to Z',
  '-name': 'by name, Z to A',
  id: 'by id, lowest first',
  '-id': 'by id, highest first',
};

const DEFAULT_SORT: Sort = '-updated';

/** Returns the query in the URL, and a function that changes a part of it. */
export function usePlantQuery(): [PlantQuery, (change: Partial<PlantQuery>) => void] {
  const { parameters } = useView();
  const text = parameters.toString();
  const query = useMemo(() => readQuery(parameters), [text]);
  return [query, changeQuery];
}

/** Changes the query that the URL has now, because a search may be delayed. */
function changeQuery(change: Partial<PlantQuery>): void {
  const { parameters } = currentView();
  const id = parameters.get('id') ?? undefined;
  replaceView('plants', { ...toParameters({ ...readQuery(parameters), ...change }), id });
}

function readQuery(parameters: URLSearchParams): PlantQuery {
  const sort = parameters.get('sort') as Sort;
  return {
    q: parameters.get('q') ?? '',
    tags: parameters.getAll('tag'),
    isUntagged: parameters.has('untagged'),
    sort: Object.hasOwn(SORT_WORDS, sort) ? sort : DEFAULT_SORT,
  };
}

/** Returns the parameters of the URL for a query. */
export function toParameters({ q, tags, isUntagged, sort }: PlantQuery): Parameters {
  return {
    q: q === '' ? undefined : q,
    tag: tags,
    untagged: isUntagged ? '1' : undefined,
    sort: sort === DEFAULT_SORT ? undefined : sort,
  };
}

/** Returns the filter as the API takes it. */
export function toFilter({ q, tags, isUntagged }: PlantQuery): Filter {
  return {
    ...(tags.length > 0 && { tag: tags }),
    ...(isUntagged && { untagged: true }),
    ...(q.trim() !== '' && { q }),
  };
}

export function isFiltered(query: PlantQuery): boolean {
  return query.q.trim() !== '' || query.tags.length > 0 || query.isUntagged;
}

/** Returns the id that the text names, or undefined if it is not a 64-bit integer. `=` may precede it. */
export function toId(text: string): bigint | undefined {
  const digits = /^=?\s*(-?\d{1,20})$/.exec(text.trim())?.[1];
  if (digits === undefined) return undefined;
  const id = BigInt(digits);
  return BigInt.asIntN(64, id) === id ? id : undefined;
}
