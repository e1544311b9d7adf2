// The four numbers at the top of the dashboard, with their trend.

import type { ServiceStatus, Summary } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { count, number } from '../shared/numbers.ts';
import { linkTo } from '../view.ts';
import { barsOf, countBetween, endOfHour, HOUR_MS, plantsOverTime, totalOf } from './hour-counts.ts';

const DAY_MS = 24 * HOUR_MS;
/** The summary lists at most this number of tags. */
const LISTED_TAGS = 100;

export function Stats({ summary, status, nowMs }: { summary: Summary; status?: ServiceStatus; nowMs: number }) {
  return (
    <div class="stats">
      <PlantsStat summary={summary} nowMs={nowMs} />
      <TagsStat summary={summary} />
      <ChangesStat summary={summary} nowMs={nowMs} />
      {status && <RequestsStat hours={status.hours} nowMs={nowMs} />}
    </div>
  );
}

function PlantsStat({ summary: { plants, changes }, nowMs }: { summary: Summary; nowMs: number }) {
  const endMs = endOfHour(nowMs);
  const { created, deleted } = countBetween(changes, endMs - 7 * DAY_MS, endMs);
  const more = created - deleted;
  return (
    <Stat
      label="Plants"
      value={number(plants)}
      href={linkTo('plants')}
      trend={plantsOverTime(barsOf(changes, '7d', nowMs), plants, nowMs)}
    >
      {plants === 0 && more === 0 ? (
        'None yet'
      ) : more === 0 ? (
        'The same as a week ago'
      ) : (
        <Difference by={more} text={signed(more)} rest="this week" />
      )}
    </Stat>
  );
}

function TagsStat({ summary: { tags, untagged, plants } }: { summary: Summary }) {
  const isIncomplete = tags.length === LISTED_TAGS || (tags.length === 0 && plants > untagged);
  return (
    <Stat
      label="Tags"
      value={isIncomplete ? (tags.length > 0 ? `${LISTED_TAGS}+` : '–') : number(tags.length)}
      href={linkTo('plants', { untagged: untagged > 0 ? '1' : undefined })}
    >
      {plants === 0
        ? 'None yet'
        : untagged === 0
          ? 'Every plant has a tag'
          : `${count(untagged, 'plant')} without a tag`}
    </Stat>
  );
}

function ChangesStat({ summary: { changes }, nowMs }: { summary: Summary; nowMs: number }) {
  const endMs = endOfHour(nowMs);
  const now = totalOf(countBetween(changes, endMs - DAY_MS, endMs));
  const before = totalOf(countBetween(changes, endMs - 2 * DAY_MS, endMs - DAY_MS));
  const percent = before === 0 ? 0 : Math.round((100 * (now - before)) / before);
  return (
    <Stat
      label="Changes, 24 h"
      value={number(now)}
      href={linkTo('activity', { time: '24h' })}
      trend={barsOf(changes, '24h', nowMs).map(totalOf)}
    >
      {before === 0 ? (
        now === 0 ? (
          'None in two days'
        ) : (
          'None on the day before'
        )
      ) : percent === 0 ? (
        'The same as the day before'
      ) : (
        <Difference by={percent} text={`${signed(percent)} %`} rest="on the day before" />
      )}
    </Stat>
  );
}

function RequestsStat({ hours, nowMs }: { hours: ServiceStatus['hours']; nowMs: number }) {
  const byHour = new Map(hours.map(({ hour, requests }) => [Date.parse(hour), requests]));
  const endMs = endOfHour(nowMs);
  const trend = Array.from({ length: 24 }, (_, at) => byHour.get(endMs - (24 - at) * HOUR_MS) ?? 0);
  const slowest = Math.max(...hours.map(({ p99Milliseconds = 0 }) => p99Milliseconds));
  return (
    <Stat
      label="Requests, 24 h"
      value={number(hours.reduce((sum, { requests }) => sum + requests, 0))}
      title="Requests to this node in the last 24 hours. In each hour, 99 % were not slower than this."
      trend={trend}
    >
      {slowest > 0 ? `p99 up to ${slowest} ms` : 'No requests yet'}
    </Stat>
  );
}

interface StatProps {
  label: string;
  value: string;
  href?: string;
  title?: string;
  trend?: number[];
  children: ComponentChildren;
}

function Stat({ label, value, href, title, trend, children }: StatProps) {
  const content = (
    <>
      <span class="stat-l">{label}</span>
      <span class="stat-v">{value}</span>
      <span class="stat-n">{children}</span>
      {trend && <Spark values={trend} />}
    </>
  );
  return href === undefined ? (
    <div class="stat" title={title}>
      {content}
    </div>
  ) : (
    <a class="stat" href={href} title={title}>
      {content}
    </a>
  );
}

function Difference({ by, text, rest }: { by: number; text: string; rest: string }) {
  return (
    <>
      <b class={by > 0 ? 'up' : 'fall'}>{text}</b> {rest}
    </>
  );
}

/** A line of the values. Nothing if they do not differ. */
function Spark({ values }: { values: number[] }) {
  const least = Math.min(...values);
  const range = Math.max(...values) - least;
  if (values.length < 2 || range === 0) return null;
  const points = values.map((value, at) => {
    const x = (100 * at) / (values.length - 1);
    return `${x.toFixed(1)} ${(22 - (20 * (value - least)) / range).toFixed(1)}`;
  });
  return (
    <svg class="spark" viewBox="0 0 100 24" preserveAspectRatio="none" aria-hidden="true">
      <path d={`M${points.join('L')}`} />
    </svg>
  );
}

function signed(value: number): string {
  return value > 0 ? `+${number(value)}` : `−${number(-value)}`;
}
