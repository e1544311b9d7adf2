// Collects one page of a filtered list in any order. Matches arrive by id; only those that can be on the page are kept.

import { PlantStoreError } from './errors.ts';
import { comparePlaces, isDescending, MAX_SORTED, type Place, placeOf } from './list-order.ts';
import { charsOf, createPage, DEFAULT_LIMIT, PAGE_CHARS } from './page-size.ts';
import type { ListQuery, Page, PlantRecord } from './plant.ts';

interface Candidate {
  place: Place;
  record: PlantRecord;
}

/** Returns the collector of a page. `start` is the place in a cursor. */
export function createSortedPage(query: ListQuery, start: Place | undefined) {
  const { limit = DEFAULT_LIMIT, sort = 'id' } = query;
  const direction = isDescending(sort) ? -1 : 1;
  const isFirstIncluded = sort === '-id'; // the cursor of an id is the first one of the page
  let candidates: Candidate[] = [];
  let chars = 0;
  let matches = 0;

  return {
    /** Adds a match. Throws `bad_parameter` if the filter has too many. */
    add(record: PlantRecord): void {
      if (++matches > MAX_SORTED) throw tooManyToSort();
      const place = placeOf(record, sort);
      if (start) {
        const distance = direction * comparePlaces(place, start);
        if (distance < 0 || (distance === 0 && !isFirstIncluded)) return;
      }
      candidates.push({ place, record });
      chars += charsOf(record);
      if (candidates.length > 2 * limit + 2 || chars > 4 * PAGE_CHARS) trim();
    },
    page(): Page {
      trim();
      const { add, page } = createPage(limit, query);
      return page(candidates.some(({ record }) => !add(record)));
    },
  };

  /** Keeps the candidates of the page, and one more that shows whether another page follows. */
  function trim(): void {
    candidates.sort((a, b) => direction * comparePlaces(a.place, b.place));
    const kept: Candidate[] = [];
    chars = 0;
    for (const candidate of candidates) {
      kept.push(candidate);
      if (kept.length > limit || chars > PAGE_CHARS) break;
      chars += charsOf(candidate.record);
    }
    candidates = kept;
  }
}

export function tooManyToSort(): PlantStoreError {
  return new PlantStoreError(
    'bad_parameter',
    `"sort" can only sort up to ${MAX_SORTED} matches of "tag", "untagged" and "q". Narrow the filter, or sort by id.`,
  );
}
