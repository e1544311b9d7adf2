// The filters of the change log. The parameters of the URL keep them, so that a view can be linked.

import type { Change, ChangePageQuery, ChangeType } from 'plant-store/client';
import type { Parameters } from '../view.ts';

export const TIMES = ['any', '1h', '24h', '7d', '30d', 'between'] as const;
export type TimeChoice = (typeof TIMES)[number];

export const KINDS = ['all', 'created', 'updated', 'deleted'] as const;
export type Kind = (typeof KINDS)[number];

export interface Filters {
  kind: Kind;
  /** Id of a token. Empty for all tokens. */
  token: string;
  time: TimeChoice;
  /** Start and end of the time `between`, in UTC (RFC 3339). Empty if open. */
  from: string;
  to: string;
  /** Only changes before this number. */
  before: number | undefined;
}

export const NO_FILTERS: Filters = { kind: 'all', token: '', time: 'any', from: '', to: '', before: undefined };

const HOUR_MS = 3_600_000;
const SPANS_MS: Partial<Record<TimeChoice, number>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
};

export function readFilters(parameters: URLSearchParams): Filters {
  const [kind, time] = [parameters.get('type'), parameters.get('time')];
  return {
    kind: KINDS.find((known) => known === kind) ?? 'all',
    token: parameters.get('token') ?? '',
    time: TIMES.find((known) => known === time) ?? 'any',
    from: validTime(parameters.get('from')),
    to: validTime(parameters.get('to')),
    before: Number.parseInt(parameters.get('before') ?? '', 10) || undefined,
  };
}

export function toParameters({ kind, token, time, from, to, before }: Filters): Parameters {
  return {
    type: kind === 'all' ? undefined : kind,
    token: token || undefined,
    time: time === 'any' ? undefined : time,
    from: (time === 'between' && from) || undefined,
    to: (time === 'between' && to) || undefined,
    before: before?.toString(),
  };
}

export function isFiltered({ kind, token, time, before }: Filters): boolean {
  return kind !== 'all' || token !== '' || time !== 'any' || before !== undefined;
}

/** True if the filters select every change of a period, so that the earlier version of a plant cannot be left out. */
export function isGapless({ kind, token }: Filters): boolean {
  return kind === 'all' && token === '';
}

/** Returns what is wrong with the times, or an empty string. */
export function timeProblem({ time, from, to }: Filters): string {
  return time === 'between' && from && to && from >= to ? 'The end must be after the start. Choose a later end.' : '';
}

export function toQuery(filters: Filters, nowMs: number): ChangePageQuery {
  const { kind, token } = filters;
  const { sinceMs, untilMs } = timesOf(filters, nowMs);
  return {
    type: kind === 'all' ? undefined : (`plant.${kind}` satisfies ChangeType),
    token: token || undefined,
    before: filters.before,
    sinceMs,
    untilMs,
  };
}

export function matches(filters: Filters, change: Change, nowMs: number): boolean {
  const {
    type,
    token,
    before = Number.POSITIVE_INFINITY,
    sinceMs = Number.NEGATIVE_INFINITY,
    untilMs = Number.POSITIVE_INFINITY,
  } = toQuery(filters, nowMs);
  const timeMs = Date.parse(change.time);
  return (
    (type === undefined || change.type === type) &&
    (token === undefined || change.token === token) &&
    change.seq < before &&
    timeMs >= sinceMs &&
    timeMs <= untilMs
  );
}

function timesOf({ time, from, to }: Filters, nowMs: number): { sinceMs?: number; untilMs?: number } {
  if (time === 'between') {
    return { ...(from && { sinceMs: Date.parse(from) }), ...(to && { untilMs: Date.parse(to) }) };
  }
  const spanMs = SPANS_MS[time];
  return spanMs === undefined ? {} : { sinceMs: nowMs - spanMs };
}

function validTime(text: string | null): string {
  return text !== null && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : '';
}

/** Returns the value of a field for local time, such as "2026-11-16T10:48". */
export function toFieldTime(time: string): string {
  if (!time) return '';
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export function fromFieldTime(value: string): string {
  return value ? new Date(value).toISOString() : '';
}
