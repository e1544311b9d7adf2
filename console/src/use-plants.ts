// The plants that a search finds, as far as they are on the page, kept up to date with what others do.

import { type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { createPlantWindows, type PlantWindow } from './plant-window.ts';
import { endsSession, useWorkspace } from './workspace.ts';

/** However much happens, it is read again no more often. */
const REFRESH_EVERY_MS = 400;
const FRESH_MS = 2500;

export interface Search {
  q: string;
  tag: string | undefined;
}

export interface Plants {
  /** Not there before the first answer. */
  window: PlantWindow | undefined;
  /** The plant with the id that is searched for. */
  withId: PlantRecord | undefined;
  problem: string;
  /** Ids of what was changed just now. */
  fresh: Set<bigint>;
  more(): void;
  back(): void;
  refresh(): void;
}

export function usePlants({ q, tag }: Search): Plants {
  const workspace = useWorkspace();
  const { client, live } = workspace;
  const [shown, setShown] = useState<PlantWindow>();
  const [withId, setWithId] = useState<PlantRecord>();
  const [problem, setProblem] = useState('');
  const [fresh, setFresh] = useState(new Set<bigint>());

  const { windows, abort, run } = useMemo(() => {
    const ending = new AbortController();
    const { signal } = ending;
    const windows = createPlantWindows((query) => client.list({ ...query, q: q.trim() || undefined, tag }, { signal }));
    const run = async (work: () => Promise<boolean>) => {
      try {
        if ((await work()) && !signal.aborted) setShown(windows.current);
        setProblem('');
      } catch (error) {
        if (!signal.aborted && !endsSession(error, workspace)) setProblem((error as Error).message);
      }
    };
    return { windows, run, abort: () => ending.abort() };
  }, [client, q, tag]);

  const findById = useRef(() => {});
  findById.current = () => {
    const id = toId(q);
    if (id === undefined) return setWithId(undefined);
    client.get(id).then(
      ({ record }) => setWithId(record),
      (error) => setWithId(error instanceof PlantStoreError ? undefined : withId),
    );
  };

  useEffect(() => {
    void run(windows.begin);
    findById.current();
    return abort;
  }, [windows]);

  useEffect(() => {
    const changed = new Set<bigint>();
    let isAll = false;
    let timer: number | undefined;
    const stop = live.listen((change) => {
      if (change) changed.add(change.plant.id);
      else isAll = true;
      timer ??= window.setTimeout(refresh, REFRESH_EVERY_MS);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };

    async function refresh(): Promise<void> {
      const ids = [...changed];
      changed.clear();
      const isEverything = isAll;
      isAll = false;
      await run(() => windows.refresh(isEverything ? undefined : ids));
      findById.current();
      setFresh(new Set(ids));
      window.setTimeout(() => setFresh((now) => (now.size > 0 ? new Set() : now)), FRESH_MS);
      timer = changed.size > 0 || isAll ? window.setTimeout(refresh, REFRESH_EVERY_MS) : undefined;
    }
  }, [windows, live]);

  return {
    window: shown,
    withId,
    problem,
    fresh,
    more: () => void run(windows.more),
    back: () => void run(windows.back),
    refresh: () => void run(() => windows.refresh()),
  };
}

/** What is written is an id, if it is an integer of 64 bits. */
export function toId(text: string): bigint | undefined {
  if (!/^-?\d{1,20}$/.test(text.trim())) return undefined;
  const id = BigInt(text.trim());
  return BigInt.asIntN(64, id) === id ? id : undefined;
}
