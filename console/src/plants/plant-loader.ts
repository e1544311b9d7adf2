// Loads the pages of the visible rows of one query, and takes in the changes of the store.

import { type Change, type Page, type PlantCount, type PlantStoreClient, PlantStoreError } from 'plant-store/client';
import { NO_PAGES, PAGE_ROWS, type PlantPages, withChanges, withPage } from './plant-pages.ts';
import { isFiltered, type PlantQuery, type Sort, toFilter } from './plant-query.ts';

/** Time for which the row of a changed plant is marked. */
const FRESH_MS = 2400;

export class PlantLoader {
  list: PlantPages = NO_PAGES;
  /** False until the first page has arrived. */
  isLoaded = false;
  error: unknown;
  /** Number of changes that the rows do not show yet. */
  waiting = 0;
  /** Time of the last response. */
  loadedMs = 0;
  /** Time at which plants last changed their rows. */
  movedMs = 0;
  /** Plants that others changed, and when the mark ends. */
  readonly fresh = new Map<bigint, number>();
  /** Ids of plants that were deleted since their rows were loaded. */
  readonly gone = new Set<bigint>();

  /** The order of the rows. The server orders more than 10,000 matches of a filter only by id. */
  sort: Sort;

  readonly #client: PlantStoreClient;
  readonly #query: PlantQuery;
  readonly #onChange: () => void;
  readonly #loading = new Map<number, AbortController>();
  #visible = { first: 0, end: 1 };
  /** The page with which a reload starts, until its response arrives. */
  #reloading: number | undefined;

  constructor(client: PlantStoreClient, query: PlantQuery, onChange: () => void) {
    this.#client = client;
    this.#query = query;
    this.sort = query.sort;
    this.#onChange = onChange;
  }

  /** Loads the pages of these rows unless they are loaded, and aborts requests for others. */
  show(first: number, end: number): void {
    this.#visible = { first, end };
    if (!this.isLoaded || this.error) return;
    const wanted = pagesOf(first, end);
    if (this.#reloading !== undefined && !wanted.includes(this.#reloading)) return void this.reload();
    for (const page of this.#loading.keys()) if (!wanted.includes(page)) this.#abort(page);
    for (const page of wanted) {
      if (!this.list.pages.has(page) && !this.#loading.has(page)) void this.#load(page, false);
    }
  }

  /** Loads the visible pages again. The rows may move. */
  async reload(): Promise<void> {
    this.stop();
    const { first, end } = this.#visible;
    const [page = 0, ...others] = pagesOf(first, end);
    const waiting = this.waiting;
    this.#reloading = page;
    const isCurrent = await this.#load(page, true);
    if (!isCurrent) return;
    this.#reloading = undefined;
    if (this.error) return;
    this.waiting = Math.max(0, this.waiting - waiting);
    this.gone.clear();
    this.#onChange();
    await Promise.all(others.filter((other) => !this.list.pages.has(other)).map((other) => this.#load(other, false)));
  }

  /** Applies changes to the loaded rows. With `isPaused`, it only counts them. */
  note(changes: Change[], ownToken: string, isPaused: boolean): void {
    this.waiting += changes.length;
    if (!isPaused) {
      const untilMs = Date.now() + FRESH_MS;
      this.list = withChanges(this.list, changes);
      for (const { plant, type, token } of changes) {
        if (type === 'plant.deleted') this.gone.add(plant.id);
        else if (this.gone.delete(plant.id) || token !== ownToken) this.fresh.set(plant.id, untilMs);
      }
    }
    this.#onChange();
  }

  /** Removes the marks of rows that changed some time ago. */
  fade(): void {
    const nowMs = Date.now();
    const ended = [...this.fresh].filter(([, untilMs]) => untilMs < nowMs);
    for (const [id] of ended) this.fresh.delete(id);
    if (ended.length > 0) this.#onChange();
  }

  /** Aborts all requests. */
  stop(): void {
    for (const page of this.#loading.keys()) this.#abort(page);
  }

  #abort(page: number): void {
    this.#loading.get(page)?.abort();
    this.#loading.delete(page);
  }

  /** Loads one page. With `isFirst`, its response replaces all pages. Returns false if it was aborted. */
  async #load(page: number, isFirst: boolean): Promise<boolean> {
    const own = new AbortController();
    this.#loading.set(page, own);
    try {
      const found = await this.#request(page, isFirst, own.signal);
      if (own.signal.aborted) return false;
      const before = this.list.pages.get(page);
      const hasMoved = found.records.some(({ id }, row) => id !== (before?.records[row]?.id ?? id));
      if (hasMoved) this.movedMs = Date.now();
      this.list = withPage(isFirst ? NO_PAGES : this.list, page, found);
      this.isLoaded = true;
      this.error = undefined;
      this.loadedMs = Date.now();
    } catch (error) {
      if (own.signal.aborted) return false;
      if (isTooMany(error) && isFiltered(this.#query) && this.sort !== 'id') {
        this.sort = 'id';
        return this.#load(page, isFirst);
      }
      this.error = error;
    } finally {
      if (this.#loading.get(page) === own) this.#loading.delete(page);
    }
    this.#onChange();
    return true;
  }

  /** A cursor is faster than an offset, so it is used if the page before is known. */
  #request(page: number, isFirst: boolean, signal: AbortSignal): Promise<Page & { total?: PlantCount }> {
    const cursor = isFirst ? undefined : this.list.pages.get(page - 1)?.next;
    const place = cursor === undefined ? { offset: page * PAGE_ROWS } : { cursor };
    return this.#client.list(
      { ...toFilter(this.#query), sort: this.sort, limit: PAGE_ROWS, ...place, count: isFirst },
      { signal },
    );
  }
}

function isTooMany(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'bad_parameter';
}

function pagesOf(first: number, end: number): number[] {
  const pages: number[] = [];
  for (let page = Math.floor(first / PAGE_ROWS); page * PAGE_ROWS < Math.max(end, first + 1); page++) pages.push(page);
  return pages;
}
