// The dashboard: totals, changes over time, health, plants by tag and the last changes. It follows the store live.

import type { Change, Summary } from 'plant-store/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { StatusStrip } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { useStatus, useSummaryQuery } from '../session/queries.ts';
import { Icon } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { LiveButton } from '../shared/live-button.tsx';
import { clockSeconds, useNow } from '../shared/time.tsx';
import { ChangesCard } from './changes-card.tsx';
import { DashboardBones } from './dashboard-bones.tsx';
import { HealthCard } from './health-card.tsx';
import { RecentActivity, useRecentChanges } from './recent-activity.tsx';
import { Stats } from './stats.tsx';
import { TagBars } from './tag-bars.tsx';

/** The server keeps a summary this long. */
const SUMMARY_AGE_MS = 5000;

type SummaryQuery = ReturnType<typeof useSummaryQuery>;

export function DashboardPage() {
  const [isLive, setLive] = useState(true);
  const query = useSummaryQuery();
  const recent = useRecentChanges();
  useCatchUp(query, recent.data?.[0]);
  const [summary, changes, asOfMs] = useFrozen([query.data, recent.data, query.dataUpdatedAt] as const, !isLive);
  const error = query.error ?? recent.error;
  const retry = () => void Promise.all([query.refetch(), recent.refetch()]);
  return (
    <>
      <div class="page">
        <header class="head page-head">
          <h1>Dashboard</h1>
          <div class="grow" />
          {summary && <span class="sub hide-s">As of {clockSeconds(new Date(asOfMs))}</span>}
          <LiveButton isLive={isLive} onChange={setLive} />
        </header>
        {!summary && error && <Failed why={errorText(error)} onRetry={retry} />}
        {query.isPending && (
          <Late>
            <DashboardBones />
          </Late>
        )}
        {summary && (
          <div class="wrap">
            {error && (
              <div class="banner warn" role="alert">
                <Icon name="alert" />
                <span>{errorText(error)}</span>
                <button type="button" class="btn s" onClick={retry}>
                  Try again
                </button>
              </div>
            )}
            <Cards summary={summary} changes={changes} />
          </div>
        )}
      </div>
      <StatusStrip />
    </>
  );
}

function Cards({ summary, changes }: { summary: Summary; changes: Change[] | undefined }) {
  const nowMs = useNow();
  const status = useStatus();
  return (
    <>
      <Stats summary={summary} {...(status && { status })} nowMs={nowMs} />
      <div class="grid-2">
        <ChangesCard summary={summary} nowMs={nowMs} />
        <HealthCard />
        <TagBars summary={summary} />
        <RecentActivity changes={changes} />
      </div>
    </>
  );
}

function Failed({ why, onRetry }: { why: string; onRetry(): void }) {
  return (
    <div class="empty">
      <Icon name="bad" class="empty-i" />
      <h2>The dashboard could not be loaded</h2>
      <p role="alert">{why}</p>
      <button type="button" class="btn" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}

/** Loads the summary again after an error, and until it includes the newest change: the server's can be 5 s old. */
function useCatchUp({ data, error, refetch }: SummaryQuery, newest: Change | undefined): void {
  const isBehind = error !== null || (data !== undefined && data.lastChange < (newest?.seq ?? 0));
  useEffect(() => {
    if (!isBehind) return;
    const timer = setInterval(refetch, SUMMARY_AGE_MS);
    return () => clearInterval(timer);
  }, [isBehind]);
}

/** Returns the value, or while frozen the last one before. */
function useFrozen<Value>(value: Value, isFrozen: boolean): Value {
  const last = useRef(value);
  if (!isFrozen) last.current = value;
  return last.current;
}
