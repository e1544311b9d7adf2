// GET /events: returns the change log as a page, or as a continuous stream of server-sent events.

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
  /** Cache of printed events, shared by all streams that send the same change. */
  const printed = new WeakMap<Change, string>();

  return [
    route('GET /events', 'listChanges', 'plants:read', {
      summary: 'Read or follow the change log',
      description:
        'Returns every create, update and delete, oldest first. A page can hold fewer than `limit` changes when they ' +
        'are large. An empty array marks the end. With `Accept: text/event-stream`, the response is a stream that ' +
        'continues with each new change. In the stream, `id` is the number of the change, `event` is its type and ' +
        '`data` is the Change. The server sends a comment line after every 15 s without a change and disconnects a client that does not read.',
      parameters: { after, limit, lastEventId },
      response: {
        description: 'A page of changes, or a stream of changes',
        schema: z.array(Change),
        streams: [EVENT_STREAM],
      },
      errors: ['changes_pruned'],
      isLong: true,
      async handle({ parameters: { after, limit, lastEventId }, ended, request, reply }) {
        reply.vary('accept');
        if (preferredType(request.headers, ['application/json', EVENT_STREAM]) !== EVENT_STREAM) {
          return log.changes({ after, limit });
        }
        const known = lastEventId ?? after;
        await log.changes({ after: known, limit: 1 }); // throws `changes_pruned` before the stream starts
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
      next.catch(() => {}); // the error is thrown when `next` is awaited, after the client has received this event
      yield toEvent(result.value);
    }
  }

  function toEvent(change: Change): string {
    const event = printed.get(change) ?? `id: ${change.seq}\nevent: ${change.type}\ndata: ${printJson(change)}\n\n`;
    printed.set(change, event);
    return event;
  }
}
