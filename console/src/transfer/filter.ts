// The filter of the list of plants, which the link to this page hands over.

import type { Filter } from 'plant-store/client';
import { useMemo } from 'preact/hooks';
import { useView } from '../view.ts';

/** Returns the filter in the page's URL. */
export function useFilter(): Filter {
  const { parameters } = useView();
  const text = parameters.toString();
  return useMemo(() => {
    const tag = parameters.getAll('tag');
    const q = parameters.get('q') ?? '';
    return {
      ...(tag.length > 0 && { tag }),
      ...(parameters.has('untagged') && parameters.get('untagged') !== 'false' && { untagged: true }),
      ...(q.trim() !== '' && { q }),
    };
  }, [text]);
}

export function hasFilter(filter: Filter): boolean {
  return Object.keys(filter).length > 0;
}
