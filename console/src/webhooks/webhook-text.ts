// The words for a webhook: its address, its changes, its format and its errors.

import type { ChangeType, Delivery, Webhook } from 'plant-store/client';
import { inSentence } from '../shared/in-sentence.ts';
import { number } from '../shared/numbers.ts';
import { duration } from '../shared/time.tsx';

export const EVENTS: { type: ChangeType; title: string }[] = [
  { type: 'plant.created', title: 'Added' },
  { type: 'plant.updated', title: 'Updated' },
  { type: 'plant.deleted', title: 'Deleted' },
];

export const FORMATS: { format: Webhook['format']; title: string; means: string }[] = [
  {
    format: 'event',
    title: 'Event',
    means: 'The kind of the change, its time and the plant. The signature covers all of it. Best for new receivers.',
  },
  {
    format: 'plant',
    title: 'Plant only',
    means: 'The id, name and tag of the plant. The kind of the change is in a header that is not signed.',
  },
];

/** Returns the host and the rest of an address. */
export function splitAddress(url: string): { host: string; path: string } {
  const { host, pathname, search } = new URL(url);
  return { host, path: `${pathname}${search}` };
}

/** Returns the name of the webhook for a sentence. */
export function titleOf({ name, url }: Webhook): string {
  return inSentence(name ?? splitAddress(url).host);
}

/** Returns "Added, updated and deleted plants". */
export function eventsText(events: ChangeType[]): string {
  const words = EVENTS.filter(({ type }) => events.includes(type)).map(({ title }) => title.toLowerCase());
  const text = new Intl.ListFormat('en-GB').format(words);
  return `${text.charAt(0).toUpperCase()}${text.slice(1)} plants`;
}

export function eventText(type: ChangeType): string {
  return EVENTS.find((event) => event.type === type)?.title ?? type;
}

export function formatText(format: Webhook['format']): string {
  return FORMATS.find((known) => known.format === format)?.title ?? format;
}

/** Returns the server's reason in the console's words. */
export function reasonText(reason: string): string {
  return reason.replace(/^The URL /, 'The address ');
}

/** Returns what the receiver did with the last attempt of a delivery. */
export function outcomeText({ code, error, attempts, status, next }: Delivery): string {
  if (error !== undefined) return reasonText(error);
  if (code !== undefined) return `Status ${code}`;
  if (status === 'waiting' && next === undefined) return 'Follows earlier changes of this plant';
  return attempts === 0 ? 'Not sent yet' : '';
}

/** Returns "in 4 min", or "now" if the time has come. */
export function untilText(at: string, nowMs: number): string {
  const ms = Date.parse(at) - nowMs;
  return ms <= 0 ? 'now' : `in ${duration(ms)}`;
}

/** Returns a count that may have been cut off at `most`: "1,000 or more". */
export function countUpTo(value: number, most: number): string {
  return value >= most ? `${number(most)} or more` : number(value);
}
