// GET /events: the change log, as a page or as a stream of server-sent events that goes on.

import { Readable } from 'node:stream';
import { z } from 'zod';
import { Change, type ChangeLog } from '../../domain/change.ts';
import { withDeadline } from '../../lib/deadline.ts';
import { printJson } from '../../lib/exact-json.ts';
import { preferredType } from '../core/accept.ts';
import { after, lastEventId, limit } from '../core/parameters.ts';
import { type Route, route } from '../core/route.ts';
import type { Timeouts } from '../core/timeouts.ts';

const EVENT_STREAM = 'text/event-stream';

export function eventRoutes(log: ChangeLog, stopping: AbortSignal, { eventKeepAliveMs }: Timeouts): Route[] {
  /** Events as they are printed, once for all streams that show the same change. */
  const printed = new WeakMap<Change, string>();

  return [
    route('GET /events', 'listChanges', 'plants:read', {
      summary: 'Read or follow the change log',
      description:
        'Every create, update and delete, oldest first. Fewer than `limit` may come where they are long: the end is an ' +
        'empty array. As an event stream it goes on with each new change: `id` is the ' +
        'number, `event` the type, `data` the Change; a comment line comes every 15 s, and a client that does not read is cut off.',
      parameters: { after, limit, lastEventId },
      response: { description: 'Changes', schema: z.array(Change), streams: [EVENT_STREAM] },
      errors: ['changes_pruned'],
      isLong: true,
      async handle({ parameters: { after, limit, lastEventId }, ended, request, reply }) {
        reply.vary('accept');
        if (preferredType(request.headers, ['application/json', EVENT_STREAM]) !== EVENT_STREAM) {
          return log.changes({ after, limit });
        }
        const known = lastEventId ?? after;
        await log.changes({ after: known, limit: 1 }); // or it says now that they are gone
        reply.type(EVENT_STREAM).header('x-accel-buffering', 'no');
        const closed = new AbortController();
        const signal = AbortSignal.any([stopping, ended, closed.signal]);
        const stream = toEventStream(log.follow({ after: known, signal }), signal);
        return Readable.from(stream, { highWaterMark: 1 }).once('close', () => closed.abort());
      },
    }),
  ];

  async function* toEventStream(changes: AsyncIterable<Change>, signal: AbortSignal): AsyncGenerator<string> {
    yield ': changes of Plant Store\n\n';
    const iterator = changes[Symbol.asyncIterator]();
    let next = iterator.next();
    while (!signal.aborted) {
      const result = await withDeadline(next, eventKeepAliveMs, () => 'late' as const);
      if (result === 'late') {
        yield ': still here\n\n';
        continue;
      }
      if (result.done) return;
      next = iterator.next();
      next.catch(() => {}); // thrown when it is awaited, after the reader has received this one
      yield toEvent(result.value);
    }
  }

  function toEvent(change: Change): string {
    const event = printed.get(change) ?? `id: ${change.seq}\nevent: ${change.type}\ndata: ${printJson(change)}\n\n`;
    printed.set(change, event);
    return event;
  }
}
