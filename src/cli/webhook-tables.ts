// Formats webhooks, their deliveries and the attempts of a delivery for a terminal.

import type { Delivery, DeliveryDetail } from '../domain/delivery.ts';
import { CHANGE_TYPES, type ChangeType } from '../domain/names.ts';
import type { Webhook } from '../domain/webhook.ts';
import { toSafeLines } from '../lib/safe-text.ts';
import type { Output } from './command-io.ts';
import { type Column, colourOfStatus, toFields, toTable } from './terminal/table.ts';
import { dayOf, timeToMinute, timeToSecond } from './terminal/time.ts';

export const WEBHOOK_COLUMNS: Column<Webhook>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'NAME', cell: ({ name }) => name, minWidth: 12, ifRoom: 2 },
  { heading: 'URL', cell: ({ url }) => url, minWidth: 20 },
  {
    heading: 'EVENTS',
    cell: ({ events }) => events.join(','),
    short: ({ events }) => (events.length === CHANGE_TYPES.length ? 'all' : events.map(toAction).join(',')),
    ifRoom: 3,
  },
  { heading: 'FORMAT', cell: ({ format }) => format, ifRoom: 5 },
  { heading: 'STATUS', cell: ({ status }) => status, colour: colourOfStatus },
  { heading: 'SINCE', cell: ({ since }) => timeToMinute(since), short: ({ since }) => dayOf(since), ifRoom: 4 },
  { heading: 'POSITION', cell: ({ position }) => String(position), ifRoom: 6 },
  {
    heading: 'REASON',
    cell: ({ reason }) => reason,
    short: ({ reason }) => toShortError(reason),
    minWidth: 16,
    ifRoom: 1,
  },
];

export const DELIVERY_COLUMNS: Column<Delivery>[] = [
  { heading: 'CHANGE', cell: ({ seq }) => String(seq) },
  { heading: 'EVENT', cell: ({ event }) => event, short: ({ event }) => toAction(event), ifRoom: 4 },
  { heading: 'PLANT', cell: ({ plant }) => String(plant), ifRoom: 1 },
  { heading: 'STATUS', cell: ({ status }) => status, colour: colourOfStatus },
  { heading: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), isQuantity: true, ifRoom: 6 },
  { heading: 'LAST', cell: ({ time }) => timeToSecond(time), short: ({ time }) => timeToMinute(time), ifRoom: 5 },
  { heading: 'NEXT', cell: ({ next }) => timeToSecond(next), short: ({ next }) => timeToMinute(next), ifRoom: 7 },
  { heading: 'CODE', cell: ({ code }) => code?.toString(), ifRoom: 3 },
  { heading: 'ERROR', cell: ({ error }) => error, short: ({ error }) => toShortError(error), minWidth: 24, ifRoom: 2 },
];

const ATTEMPT_COLUMNS: Column<DeliveryDetail['history'][number]>[] = [
  { heading: 'ATTEMPT', cell: ({ time }) => timeToSecond(time) },
  { heading: 'DURATION', cell: ({ milliseconds }) => `${milliseconds} ms`, isQuantity: true, ifRoom: 3 },
  { heading: 'CODE', cell: ({ code }) => code?.toString() },
  { heading: 'ERROR', cell: ({ error }) => error, minWidth: 10, ifRoom: 1 },
  { heading: 'RESPONSE', cell: ({ answer }) => answer, minWidth: 10, ifRoom: 2 },
];

/** Returns all fields of a delivery, its request as it was sent, and a table of its attempts. */
export function toDeliveryText(delivery: DeliveryDetail, stdout: Output): string {
  const { request, history } = delivery;
  const fields = toFields(
    [
      ['Change', String(delivery.seq)],
      ['Event', delivery.event],
      ['Plant', String(delivery.plant)],
      ['Status', delivery.status],
      ['Attempts', String(delivery.attempts)],
      ['Last', timeToSecond(delivery.time)],
      ['Next', timeToSecond(delivery.next)],
      ['Code', delivery.code?.toString()],
      ['Error', delivery.error],
      ['Response', delivery.answer],
    ],
    stdout,
  );
  const parts = [fields];
  if (request) {
    const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}\n`);
    parts.push(toSafeLines(`${headers.join('')}\n${request.body}\n`));
  }
  if (history.length > 0) parts.push(toTable(ATTEMPT_COLUMNS, history, stdout));
  return parts.join('\n');
}

/** Returns an error without the words that most errors start with. */
function toShortError(error: string | undefined): string | undefined {
  return error?.replace(/^The receiver responded with /, '');
}

/** Returns the last word of a type: `created` for `plant.created`. */
function toAction(type: ChangeType): string {
  return type.slice(type.indexOf('.') + 1);
}
