// The versions before the updates of the list. Those that the list itself does not contain are loaded for visible rows.

import type { Change } from 'plant-store/client';
import type { RefObject } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { earlierIn, loadEarlier } from './earlier-versions.ts';

/** Rows that are replaced sooner are not looked up, so that a busy store does not cause a request per change. */
const STEADY_MS = 600;
const MAX_REMEMBERED = 500;

/** Returns the change before each update as far as it is known, by the number of the update. */
export function useEarlier(
  changes: Change[] | undefined,
  isGapless: boolean,
  scroller: RefObject<HTMLElement | null>,
): (seq: number) => Change | undefined {
  const { client, queries } = useWorkspace();
  const [loaded, setLoaded] = useState<ReadonlyMap<number, Change | undefined>>(new Map());
  const inList = useMemo(() => (isGapless && changes ? earlierIn(changes) : new Map()), [changes, isGapless]);

  useEffect(() => {
    if (!scroller.current || !changes) return;
    const bySeq = new Map(changes.map((change) => [change.seq, change]));
    const visible = new Set<number>();
    let isStopped = false;
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const seq = Number((target as HTMLElement).dataset.wanted);
          if (isIntersecting) visible.add(seq);
          else visible.delete(seq);
        }
        void loadVisible();
      },
      { root: scroller.current },
    );
    const timer = setTimeout(() => {
      for (const row of scroller.current?.querySelectorAll('[data-wanted]') ?? []) observer.observe(row);
    }, STEADY_MS);
    return () => {
      isStopped = true;
      clearTimeout(timer);
      observer.disconnect();
    };

    async function loadVisible(): Promise<void> {
      for (const seq of visible) {
        const change = bySeq.get(seq);
        visible.delete(seq);
        if (!change || isStopped || loaded.has(seq)) continue;
        try {
          const earlier = await loadEarlier(queries, client, change);
          setLoaded((known) => new Map([...[...known].slice(-MAX_REMEMBERED), [seq, earlier]]));
        } catch {} // The row shows the tag only. The opened entry reports the error.
      }
    }
  }, [changes]);

  return (seq) => inList.get(seq) ?? loaded.get(seq);
}
