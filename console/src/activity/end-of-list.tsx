// The end of the list: it loads older changes as the user approaches it, and says where the change log ends.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { errorText } from '../session/error-text.ts';
import { number } from '../shared/numbers.ts';
import { type FeedState, MAX_KEPT } from './change-feed.ts';

/** Distance from the end at which older changes are loaded. */
const AHEAD = '600px';

interface Props {
  feed: FeedState;
  isFiltered: boolean;
  scroller: RefObject<HTMLElement | null>;
  onMore(): void;
  /** Shows the changes before the last one of the list. */
  onContinue(): void;
}

export function EndOfList({ feed, isFiltered, scroller, onMore, onContinue }: Props) {
  const { changes = [], next, isLoading, error } = feed;
  const place = useRef<HTMLDivElement>(null);
  const isFull = changes.length >= MAX_KEPT;
  const canLoad = next !== undefined && !isLoading && !isFull;

  useEffect(() => {
    if (!canLoad || error || !place.current) return;
    const observer = new IntersectionObserver((entries) => entries.at(-1)?.isIntersecting && onMore(), {
      root: scroller.current,
      rootMargin: AHEAD,
    });
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [canLoad, error, changes]);

  return (
    <div ref={place} class="end">
      {error ? <p role="alert">Older changes could not be loaded. {errorText(error)}</p> : null}
      {isLoading && <p>{changes.length === 0 ? progress(next) : 'Loading older changes…'}</p>}
      {canLoad && error !== undefined && (
        <button type="button" class="btn" onClick={onMore}>
          Try again
        </button>
      )}
      {isFull && next !== undefined && (
        <>
          <p>This list ends after {number(MAX_KEPT)} changes.</p>
          <button type="button" class="btn" onClick={onContinue}>
            Show older changes
          </button>
        </>
      )}
      {next === undefined && !isLoading && <p>{lastWords(isFiltered)}</p>}
    </div>
  );
}

function progress(next: number | undefined): string {
  return next === undefined ? 'Searching…' : `Searching the changes before no. ${number(next)}…`;
}

function lastWords(isFiltered: boolean): string {
  if (isFiltered) return 'No older change matches these filters.';
  return 'That is everything. Changes are kept until they are pruned.';
}
