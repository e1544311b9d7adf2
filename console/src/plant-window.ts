// The part of a long list that is on the page: some pages of it, which move along as one scrolls. However long the
// list is, no more than these are kept, and the cursors that lead back.

import type { ListQuery, Page, PlantRecord } from 'plant-store/client';

export const PAGE_LIMIT = 100;
const MAX_PAGES = 6;

export interface PlantWindow {
  /** The same objects as long as nothing in them has changed. */
  parts: Part[];
  /** How many plants come before them in the list. */
  before: number;
  /** With those before. */
  count: number;
  isEnd: boolean;
  /** Something of it was read. */
  isBegun: boolean;
}

export interface Part {
  /** Leads to it; the first of all needs none. */
  cursor: string | undefined;
  records: PlantRecord[];
}

export function holds(shown: PlantWindow | undefined, id: bigint): boolean {
  return shown?.parts.some(({ records }) => records.some((record) => record.id === id)) ?? false;
}

export interface PlantWindows {
  readonly current: PlantWindow;
  /** This and the next two do nothing while something is under way. All give true when the window has changed. */
  begin(): Promise<boolean>;
  more(): Promise<boolean>;
  back(): Promise<boolean>;
  /** Reads what is shown again: from the page on that holds one of these ids, or all of it. Waits for its turn, and begins where nothing was read yet. */
  refresh(changed?: bigint[]): Promise<boolean>;
}

export function createPlantWindows(list: (query: ListQuery) => Promise<Page>): PlantWindows {
  /** Of the pages before the window. */
  const behind: { cursor: string | undefined; length: number }[] = [];
  let parts: Part[] = [];
  let next: string | undefined;
  let isBegun = false;
  let underWay: Promise<boolean> | undefined;

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
      while (underWay) await underWay.catch(() => {});
      return ifIdle(async () => {
        if (!isBegun) return read([], undefined, 1);
        const from = changed ? parts.findIndex((part, at) => changed.some((id) => isOn(part, parts[at + 1], id))) : 0;
        const part = parts[from];
        if (!part) return false;
        return read(parts.slice(0, from), part.cursor, parts.length - from);
      });
    },
  };

  /** The pages that are kept, and so many anew behind them: what came or went moves all that follow. */
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
    if (underWay) return Promise.resolve(false);
    underWay = work().finally(() => {
      underWay = undefined;
    });
    return underWay;
  }
}
