// A window of a few pages on a long list, which moves as the user scrolls. Memory holds only these pages and the
// cursors of the pages before them, however long the list is.

import type { ListQuery, Page, PlantRecord } from 'plant-store/client';

export const PAGE_LIMIT = 100;
const MAX_PAGES = 6;

export interface PlantWindow {
  /** The loaded pages. An unchanged page stays the same object. */
  parts: Part[];
  /** Number of plants in the list before `parts`. */
  before: number;
  /** Number of plants in `parts` and before them. */
  count: number;
  isEnd: boolean;
  /** True after the first page was loaded. */
  isBegun: boolean;
}

export interface Part {
  /** Cursor of this page. Undefined for the first page of the list. */
  cursor: string | undefined;
  records: PlantRecord[];
}

export function holds(shown: PlantWindow | undefined, id: bigint): boolean {
  return shown?.parts.some(({ records }) => records.some((record) => record.id === id)) ?? false;
}

export interface PlantWindows {
  readonly current: PlantWindow;
  /** `begin`, `more` and `back` do nothing while a request is in flight. All return true if the window changed. */
  begin(): Promise<boolean>;
  more(): Promise<boolean>;
  back(): Promise<boolean>;
  /**
   * Reloads the window, starting at the first page that contains one of these ids; without ids, all of it. Waits for a
   * request in flight. Loads the first page if none was loaded yet.
   */
  refresh(changed?: bigint[]): Promise<boolean>;
}

export function createPlantWindows(list: (query: ListQuery) => Promise<Page>): PlantWindows {
  /** Cursors and lengths of the pages before the window. */
  const behind: { cursor: string | undefined; length: number }[] = [];
  let parts: Part[] = [];
  let next: string | undefined;
  let isBegun = false;
  let inFlight: Promise<boolean> | undefined;

  return {
    get current() {
      const before = behind.reduce((sum, { length }) => sum + length, 0);
      const count = parts.reduce((sum, { records }) => sum + records.length, before);
      return { parts, before, count, isEnd: isBegun && next === undefined, isBegun };
    },
    begin: () => ifIdle(() => read([], undefined, 1)),
    more: () =>
      ifIdle(async () => {
        if (next === undefined) return false;
        await read(parts, next, 1);
        while (parts.length > MAX_PAGES) {
          const [first, ...others] = parts;
          if (first) behind.push({ cursor: first.cursor, length: first.records.length });
          parts = others;
        }
        return true;
      }),
    back: () =>
      ifIdle(async () => {
        const last = behind.at(-1);
        if (!last) return false;
        await read([], last.cursor, MAX_PAGES);
        behind.pop();
        return true;
      }),
    async refresh(changed) {
      while (inFlight) await inFlight.catch(() => {});
      return ifIdle(async () => {
        if (!isBegun) return read([], undefined, 1);
        const from = changed ? parts.findIndex((part, at) => changed.some((id) => isOn(part, parts[at + 1], id))) : 0;
        const part = parts[from];
        if (!part) return false;
        return read(parts.slice(0, from), part.cursor, parts.length - from);
      });
    },
  };

  /** Loads `count` pages after the kept ones. An added or deleted plant shifts all pages that follow. */
  async function read(kept: Part[], cursor: string | undefined, count: number): Promise<true> {
    const found = [...kept];
    let at = cursor;
    for (let n = 0; n < count; n++) {
      const page = await list({ limit: PAGE_LIMIT, cursor: at });
      found.push({ cursor: at, records: page.records });
      at = page.next;
      if (at === undefined) break;
    }
    parts = found;
    next = at;
    isBegun = true;
    return true;
  }

  function isOn(part: Part, following: Part | undefined, id: bigint): boolean {
    const first = part.records[0]?.id;
    const isAfterStart = part.cursor === undefined || first === undefined || id >= first;
    const end = following?.records[0]?.id;
    return isAfterStart && (end === undefined ? next === undefined || id <= (part.records.at(-1)?.id ?? id) : id < end);
  }

  function ifIdle(work: () => Promise<boolean>): Promise<boolean> {
    if (inFlight) return Promise.resolve(false);
    inFlight = work().finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  }
}
