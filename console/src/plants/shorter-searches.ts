// Searches that may find something if a search finds nothing.

const MAX_SEARCHES = 4;

/** Returns the search without the last letters of its last word, the longest first. */
export function shorterSearches(q: string): string[] {
  const searches: string[] = [];
  let letters = [...q.trimEnd()];
  while (searches.length < MAX_SEARCHES) {
    const isWordDone = /^\s$/.test(letters.at(-2) ?? '');
    letters = [...letters.slice(0, -1).join('').trimEnd()];
    if (letters.length === 0) break;
    searches.push(letters.join(''));
    if (isWordDone) break;
  }
  return searches;
}
