// The change log, newest first. It can be filtered, and follows the store live.

import { useEffect, useRef, useState } from 'preact/hooks';
import { StatusStrip } from '../frame/notices.tsx';
import { useSummary, useTokenNames } from '../session/queries.ts';
import { Late } from '../shared/late.tsx';
import { LiveButton } from '../shared/live-button.tsx';
import { count, number } from '../shared/numbers.ts';
import { openView, useView } from '../view.ts';
import { ActivityBones, Failed, NothingFound, Pruned, WrongTimes } from './activity-states.tsx';
import { isPruned } from './change-feed.ts';
import { ChangeList } from './change-list.tsx';
import { FilterBar } from './filter-bar.tsx';
import { type Filters, isFiltered, isGapless, NO_FILTERS, readFilters, timeProblem, toParameters } from './filters.ts';
import { useChangeFeed } from './use-change-feed.ts';
import { useEarlier } from './use-earlier.ts';
import { isReading, useReading } from './use-reading.ts';
import { useTokenOptions } from './use-token-options.ts';

export function ActivityPage() {
  const filters = readFilters(useView().parameters);
  const [isLive, setLive] = useState(true);
  const scroller = useRef<HTMLElement>(null);
  const reading = useReading(scroller);
  const feed = useChangeFeed(filters, () => !isLive || isReading(scroller.current));
  const { changes, error, isLoading, next } = feed;
  const tokens = useTokenOptions(changes, filters.token);
  const tokenName = useTokenNames();
  const earlierOf = useEarlier(changes, isGapless(filters), scroller);
  const wrong = timeProblem(filters);
  const isEmpty = changes?.length === 0 && next === undefined && !isLoading;
  useEffect(feed.resume, [isLive, reading.open]);

  return (
    <section class="list" aria-labelledby="title">
      <header class="head">
        <h1 id="title">Activity</h1>
        {filters.before !== undefined && <span class="head-count">before no. {number(filters.before)}</span>}
        {!isFiltered(filters) && <MonthCount />}
        <div class="grow" />
        <LiveButton isLive={isLive} onChange={setLive} />
      </header>
      <FilterBar filters={filters} tokens={tokens} onChange={setFilters} />
      {wrong ? (
        <WrongTimes why={wrong} />
      ) : isPruned(error) ? (
        <Pruned onReload={feed.reload} />
      ) : !changes && error ? (
        <Failed error={error} onRetry={feed.loadOlder} />
      ) : isEmpty ? (
        <NothingFound isFiltered={isFiltered(filters)} onClear={() => setFilters(NO_FILTERS)} />
      ) : changes ? (
        <ChangeList
          feed={feed}
          reading={reading}
          scroller={scroller}
          isFiltered={isFiltered(filters)}
          tokenName={tokenName}
          earlierOf={earlierOf}
          onScroll={feed.resume}
          onShowNew={showNew}
          onMore={feed.loadOlder}
          onContinue={() => setFilters({ ...filters, before: changes.at(-1)?.seq })}
        />
      ) : (
        <Late>
          <ActivityBones />
        </Late>
      )}
      <StatusStrip>{changes && !isEmpty && `${count(changes.length, 'change')} shown, newest first`}</StatusStrip>
    </section>
  );

  function setFilters(changed: Filters): void {
    openView('activity', toParameters(changed));
  }

  function showNew(): void {
    reading.close();
    scroller.current?.scrollTo({ top: 0 });
    scroller.current?.focus({ preventScroll: true });
    void feed.showNew();
  }
}

function MonthCount() {
  const summary = useSummary();
  if (!summary) return null;
  const changes = summary.changes.reduce((sum, hour) => sum + hour.changes, 0);
  return <span class="head-count">{count(changes, 'change')} in 30 days</span>;
}
