// The list of the current query. It follows the changes of the store, a few times a second.

import type { Change } from 'plant-store/client';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from 'preact/hooks';
import { errorText } from '../session/error-text.ts';
import { endsSession, useLive, useWorkspace } from '../session/workspace.ts';
import { PlantLoader } from './plant-loader.ts';
import { NO_PAGES, type PlantPages } from './plant-pages.ts';
import type { PlantQuery, Sort } from './plant-query.ts';

/** Interval at which collected changes are shown. Many can arrive at once. */
const SHOW_CHANGES_MS = 300;
/** Time after which a click is meant for the rows that are shown. */
const SETTLED_MS = 700;
/** Least interval between two reloads because of changes. */
const RELOAD_MS = 1500;

export interface PlantList extends PlantPages {
  /** Changes when the rows of another query are shown. */
  key: string;
  /** The order of the rows, which is by id if the server cannot order so many. */
  sort: Sort;
  /** False until the first page of this query has arrived. Until then, the rows of the last query are shown. */
  isLoaded: boolean;
  problem: string;
  /** Number of changes that the rows do not show yet. */
  waiting: number;
  /** Plants that others changed within the last seconds. */
  fresh: { has(id: bigint): boolean };
  /** Shown plants that were deleted. */
  gone: { has(id: bigint): boolean };
  /** Time of the last response. */
  loadedMs: number;
  /** Loads the pages of these rows unless they are loaded. */
  show(first: number, end: number): void;
  /** Loads the visible pages again. */
  reload(): Promise<void>;
  /** True if another plant may just have moved under the pointer. */
  haveMoved(): boolean;
}

/** Without `isLive`, changes wait. Unless `mayMove`, those that would move rows wait too. */
export function usePlantPages(query: PlantQuery, following: { isLive: boolean; mayMove(): boolean }): PlantList {
  const workspace = useWorkspace();
  const { client } = workspace;
  const [round, render] = useReducer((n: number) => n + 1, 0);
  const key = JSON.stringify(query);
  const last = useRef<{ rows: PlantPages; key: string }>({ rows: NO_PAGES, key: '' });
  const loader = useMemo(() => new PlantLoader(client, query, () => render(undefined)), [client, key]);
  if (loader.isLoaded) last.current = { rows: loader.list, key };
  const hasEnded = loader.error !== undefined && endsSession(loader.error, workspace);

  // Before the paint: the server finds the plants while the browser draws the page around them.
  useLayoutEffect(() => {
    void loader.reload();
    return () => loader.stop();
  }, [loader]);
  useChanges(loader, following);

  return useMemo(
    () => ({
      ...(loader.isLoaded || !loader.error ? last.current.rows : NO_PAGES),
      key: last.current.key,
      sort: loader.sort,
      isLoaded: loader.isLoaded,
      problem: loader.error === undefined || hasEnded ? '' : errorText(loader.error),
      waiting: loader.waiting,
      loadedMs: loader.loadedMs,
      fresh: loader.fresh,
      gone: loader.gone,
      show: loader.show.bind(loader),
      reload: () => loader.reload(),
      haveMoved: () => Date.now() - loader.movedMs < SETTLED_MS,
    }),
    [loader, round],
  );
}

function useChanges(loader: PlantLoader, following: { isLive: boolean; mayMove(): boolean }): void {
  const { self } = useWorkspace();
  const collected = useRef<Change[]>([]);
  const reloadedMs = useRef(0);
  const latest = useRef(following);
  latest.current = following;

  useLive((change) => {
    if (change) collected.current.push(change);
    else if (loader.isLoaded || loader.error) void loader.reload();
  });
  useEffect(() => {
    const timer = setInterval(() => {
      const { isLive, mayMove } = latest.current;
      const changes = collected.current.splice(0);
      if (changes.length > 0) loader.note(changes, self.id, !isLive);
      loader.fade();
      const isDue = Date.now() - reloadedMs.current > RELOAD_MS;
      if (loader.waiting === 0 || !loader.isLoaded || !isLive || !isDue || !mayMove()) return;
      reloadedMs.current = Date.now();
      void loader.reload();
    }, SHOW_CHANGES_MS);
    return () => clearInterval(timer);
  }, [loader]);
}
