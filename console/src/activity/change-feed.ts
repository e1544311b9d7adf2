// Loads the change log from its newest change backwards, and keeps its top current. New changes wait while the user
// reads. The number of kept changes has a limit, so that the page stays fast however long it is open.

import { type Change, type PlantStoreClient, PlantStoreError } from 'plant-store/client';
import { type Filters, matches, toQuery } from './filters.ts';

/** Number of changes of a page. The list returns to this size when new changes appear at its top. */
const PAGE = 100;
/** Number of changes that the list holds at most. */
export const MAX_KEPT = 1000;
/** Interval at which new changes are loaded at most. */
const REFRESH_MS = 2000;
/** Interval at which the number of waiting changes is updated at most. */
const COUNT_MS = 500;
/** With more new changes at a time, marking them would mark everything. */
const MAX_FRESH = 20;
/** The server scans a limited number of changes per request. After this number of empty pages the page shows progress. */
const MAX_EMPTY_PAGES = 5;

export interface FeedState {
  /** Newest first. Undefined before the first response. */
  changes: Change[] | undefined;
  /** The changes before this number are not loaded yet. Undefined at the end. */
  next: number | undefined;
  isLoading: boolean;
  error: unknown;
  /** Number of new changes that wait. */
  waiting: number;
  /** Numbers of the changes that have just appeared. */
  fresh: ReadonlySet<number>;
}

export const NOTHING_LOADED: FeedState = {
  changes: undefined,
  next: undefined,
  isLoading: true,
  error: undefined,
  waiting: 0,
  fresh: new Set(),
};

export interface ChangeFeed {
  /** Loads the next older changes, or the first ones. */
  loadOlder(): Promise<void>;
  /** Shows the new changes that wait. */
  showNew(): Promise<void>;
  /** Reports a change of the store, or an unknown number of changes. */
  note(change?: Change): void;
  /** Loads new changes if no longer held. */
  resume(): void;
  stop(): void;
}

interface Options {
  client: PlantStoreClient;
  filters: Filters;
  /** True while new changes must wait. */
  isHeld(): boolean;
  onState(state: FeedState): void;
  /** Returns true if the error needs no message. */
  onError(error: unknown): boolean;
}

export function createChangeFeed({ client, filters, isHeld, onState, onError }: Options): ChangeFeed {
  const ending = new AbortController();
  const { signal } = ending;
  let state = NOTHING_LOADED;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastMs = 0;
  /** Number of new changes since the last refresh. */
  let noted = 0;
  /** True if there can be new changes that were not noted. */
  let isUnknown = false;
  let isRefreshing = false;

  return { loadOlder, showNew: refresh, note, resume, stop };

  function set(changed: Partial<FeedState>): void {
    if (signal.aborted) return;
    state = { ...state, ...changed };
    onState(state);
  }

  async function loadOlder(): Promise<void> {
    const { changes, next: before } = state;
    if (changes && (before === undefined || state.isLoading || changes.length >= MAX_KEPT)) return;
    set({ isLoading: true, error: undefined });
    try {
      const older = await readOlder(client, filters, before, signal);
      const isCurrent = state.next === before; // The list may have started over.
      const all = [...(state.changes ?? []), ...older.changes];
      set({ ...(isCurrent && { changes: all.slice(0, MAX_KEPT), next: older.next }), isLoading: false });
      resume();
    } catch (error) {
      if (!signal.aborted && !onError(error)) set({ error, isLoading: false });
    }
  }

  function note(change?: Change): void {
    if (change && (!matches(filters, change, Date.now()) || change.seq <= (state.changes?.[0]?.seq ?? 0))) return;
    if (change) noted++;
    else isUnknown = true;
    resume();
  }

  function resume(): void {
    if (signal.aborted || (noted === 0 && !isUnknown)) return;
    timer ??= setTimeout(tick, isHeld() ? COUNT_MS : Math.max(0, lastMs + REFRESH_MS - Date.now()));
  }

  function tick(): void {
    timer = undefined;
    if (isRefreshing) resume();
    else if (!isHeld()) void refresh();
    else if (noted !== state.waiting) set({ waiting: noted });
  }

  /** Loads the changes after the newest one of the list. After an error the next live change tries again. */
  async function refresh(): Promise<void> {
    if (!state.changes || isRefreshing) return;
    isRefreshing = true;
    isUnknown = false;
    noted = 0;
    lastMs = Date.now();
    try {
      const after = state.changes[0]?.seq;
      const query = { ...toQuery(filters, Date.now()), order: 'desc', after, limit: PAGE } as const;
      const page = await client.changePage(query, { signal });
      set({ ...withNew(state, page.changes, page.next), waiting: 0 });
      isRefreshing = false;
      resume();
    } catch (error) {
      isRefreshing = false;
      isUnknown = true;
      if (!signal.aborted && !onError(error) && isPruned(error)) set({ error });
    }
  }

  function stop(): void {
    clearTimeout(timer);
    ending.abort();
  }
}

/** True if the changes of the list no longer exist. */
export function isPruned(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'changes_pruned';
}

/** Reads pages until one has changes. */
async function readOlder(
  client: PlantStoreClient,
  filters: Filters,
  before: number | undefined,
  signal: AbortSignal,
): Promise<{ changes: Change[]; next: number | undefined }> {
  let next = before;
  for (let pages = 0; pages < MAX_EMPTY_PAGES; pages++) {
    const wanted = toQuery(filters, Date.now());
    const query = { ...wanted, order: 'desc', before: next ?? wanted.before, limit: PAGE } as const;
    const page = await client.changePage(query, { signal });
    if (page.changes.length > 0 || page.next === undefined) return { changes: page.changes, next: page.next };
    next = page.next;
  }
  return { changes: [], next };
}

/** Adds new changes at the top. If `gap` is set, the changes between it and the list are missing: the list starts over. */
function withNew({ changes = [], next }: FeedState, added: Change[], gap: number | undefined): Partial<FeedState> {
  const fresh = new Set(added.length <= MAX_FRESH ? added.map(({ seq }) => seq) : []);
  if (gap !== undefined) return { changes: added, next: gap, fresh, error: undefined };
  if (added.length === 0) return { error: undefined };
  const all = [...added, ...changes];
  const kept = all.slice(0, PAGE);
  return { changes: kept, next: kept.length < all.length ? kept.at(-1)?.seq : next, fresh, error: undefined };
}
