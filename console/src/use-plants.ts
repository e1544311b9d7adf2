// The plants of the current search that are on the page, updated when other clients change them.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { createPlantWindows, type PlantWindow } from './plant-window.ts';
import { type Search, usePlantWithId } from './use-plant-with-id.ts';
import { endsSession, useWorkspace } from './workspace.ts';

/** Minimum interval between reloads after changes. */
const REFRESH_EVERY_MS = 400;
/** Delay before a failed request is retried. */
const RETRY_MS = 3000;
const FRESH_MS = 2500;
/** If more rows than this change at once, none is highlighted. */
const MAX_FRESH = 20;

export interface Plants {
  /** Undefined until the first response. */
  window: PlantWindow | undefined;
  /** The plant whose id equals the search text. */
  withId: ReturnType<typeof usePlantWithId>['plant'];
  /** True until the server has responded to the request for `withId`. */
  isPending: boolean;
  problem: string;
  /** Ids of the plants that have just changed. */
  fresh: Set<bigint>;
  more(): void;
  back(): void;
  /** Resolves when the reloaded plants are shown. */
  refresh(): Promise<void>;
}

export function usePlants(search: Search): Plants {
  const workspace = useWorkspace();
  const { client, live } = workspace;
  const { q, tag } = search;
  const [shown, setShown] = useState<PlantWindow>();
  const [problem, setProblem] = useState('');
  const [fresh, setFresh] = useState(new Set<bigint>());
  const { plant: withId, isPending, read: readWithId } = usePlantWithId(search);

  const { windows, abort, run } = useMemo(() => {
    const ending = new AbortController();
    const { signal } = ending;
    const windows = createPlantWindows((query) => client.list({ ...query, q: q.trim() || undefined, tag }, { signal }));
    const run = async (work: () => Promise<boolean>) => {
      try {
        const hasRead = await work();
        if (!hasRead || signal.aborted) return;
        setShown(windows.current);
        setProblem('');
      } catch (error) {
        if (signal.aborted || endsSession(error, workspace)) return;
        setProblem((error as Error).message);
        if (!windows.current.isBegun) setShown(undefined); // The rows on the page belong to another search.
      }
    };
    return { windows, run, abort: () => ending.abort() };
  }, [client, q, tag]);

  useEffect(() => {
    void run(windows.begin);
    return abort;
  }, [windows]);

  useEffect(() => {
    if (!problem) return;
    const timer = setInterval(() => void run(windows.refresh), RETRY_MS);
    return () => clearInterval(timer);
  }, [problem, windows]);

  useEffect(() => {
    const changed = new Set<bigint>();
    let isAll = false;
    let isOver = false;
    let timer: number | undefined;
    const stop = live.listen((change) => {
      if (change) changed.add(change.plant.id);
      else isAll = true;
      timer ??= window.setTimeout(refresh, REFRESH_EVERY_MS);
    });
    return () => {
      isOver = true;
      stop();
      clearTimeout(timer);
    };

    async function refresh(): Promise<void> {
      const ids = [...changed];
      const isEverything = isAll;
      changed.clear();
      isAll = false;
      await run(() => windows.refresh(isEverything ? undefined : ids));
      if (isOver) return; // Another search has started.
      readWithId();
      setFresh(new Set(ids.length <= MAX_FRESH ? ids : []));
      window.setTimeout(() => setFresh((now) => (now.size > 0 ? new Set() : now)), FRESH_MS);
      timer = changed.size > 0 || isAll ? window.setTimeout(refresh, REFRESH_EVERY_MS) : undefined;
    }
  }, [windows, live, readWithId]);

  return {
    window: shown,
    withId,
    isPending,
    problem,
    fresh,
    more: () => void run(windows.more),
    back: () => void run(windows.back),
    refresh() {
      readWithId();
      return run(windows.refresh);
    },
  };
}
