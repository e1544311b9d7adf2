// The routes under /events: the change log as a page or as a continuous stream of server-sent events, and its pruning.

import { z } from 'zod';
import { Change, type ChangeStore, Prune, Pruned, prune } from '../../domain/change.ts';
import { PlantStoreError } from '../../domain/errors.ts';
import type { ChangeOrder } from '../../domain/names.ts';
import { printJson } from '../../lib/exact-json.ts';
import { toIsoTime } from '../../lib/iso-time.ts';
import { preferredType } from '../core/accept.ts';
import { jsonBody } from '../core/json-body.ts';
import { after, before, changeToken, changeType, lastEventId, limit, order, since, until } from '../core/parameters.ts';
import { type Route, route } from '../core/route.ts';
import type { Timeouts } from '../core/timeouts.ts';

const EVENT_STREAM = 'text/event-stream';

export function eventRoutes(
  log: ChangeStore,
  basePath: string,
  stopping: AbortSignal,
  { eventKeepAliveMs }: Timeouts,
  clock: () => number,
): Route[] {
  /** Cache of printed events, shared by all streams that send the same page of changes. */
  const printed = new WeakMap<Change[], string>();

  return [
    route('GET /events', 'listChanges', 'plants:read', {
      takesTurn: true,
      summary: 'Read or follow the change log',
      description:
        'Returns every create, update and delete, oldest first unless you set `order`. A page can hold fewer than `limit` ' +
        'changes when they are large. It scans a limited number of changes, so with a filter it can be short or empty: ' +
        'the `Link` header shows whether there is more. `since` and `until` follow the server clock. With `Accept: text/event-stream`, the response is a stream that ' +
        'continues with each new change. In the stream, `id` is the number of the change, `event` is its type and ' +
        '`data` is the Change. The server sends a comment line after every 15 s without a change and disconnects a client that does not read. A stream supports only `after`.',
      parameters: { after, before, limit, order, type: changeType, token: changeToken, since, until, lastEventId },
      response: {
        description: 'A page of changes, or a stream of changes',
        schema: z.array(Change),
        streams: [EVENT_STREAM],
        headers: {
          'Last-Seq': 'Number of the newest change, also of an empty page. It is 0 before the first change.',
          Link: 'URL of the next page with `rel="next"` (RFC 8288). Absent if there are no more changes now.',
        },
      },
      errors: ['changes_pruned'],
      isLong: true,
      async prepare(_, reply) {
        reply.header('last-seq', String(await log.lastSeq()));
      },
      async handle({ parameters: { lastEventId, since: sinceMs, until: untilMs, ...query }, ended, request, reply }) {
        reply.vary('accept');
        if (preferredType(request.headers, ['application/json', EVENT_STREAM]) !== EVENT_STREAM) {
          const { changes, next } = await log.changePage({ ...query, sinceMs, untilMs });
          if (next !== undefined)
            reply.nextPage(`${basePath}/events`, {
              ...query,
              ...toTimes(sinceMs, untilMs),
              ...continued(query.order, next),
            });
          return changes;
        }
        const known = lastEventId ?? query.after;
        requireStreamQuery({ ...query, since: sinceMs, until: untilMs });
        reply.type(EVENT_STREAM).header('x-accel-buffering', 'no');
        return toEventStream(log.follow({ after: known, signal: AbortSignal.any([stopping, ended]) }));
      },
    }),
    route('POST /events/prune', 'pruneChanges', 'admin', {
      summary: 'Prune the change log',
      description:
        'Removes the changes that are older than `olderThan` and returns their number. The records stay, and numbers are never ' +
        'reused. Changes that an enabled webhook has not delivered are kept, with all changes after them. A client that ' +
        'requests pruned changes receives error 41000 (410) and must start over with a new export. The request can take minutes.',
      body: jsonBody(Prune),
      response: { description: 'The number of removed changes', schema: Pruned },
      handle: ({ body }) => prune(log, body, clock()),
    }),
  ];

  async function* toEventStream(pages: AsyncIterable<Change[]>): AsyncGenerator<string> {
    let sentMs: number | undefined;
    for await (const changes of pages) {
      const greeting = sentMs === undefined ? ': changes of Plant Store\n\n' : '';
      const nowMs = performance.now();
      const isSilent = changes.length === 0 && sentMs !== undefined && nowMs - sentMs >= eventKeepAliveMs;
      const text = isSilent ? ': still here\n\n' : greeting + toEvents(changes);
      if (text !== '') sentMs = nowMs;
      yield text;
    }
  }

  function toEvents(changes: Change[]): string {
    const events = printed.get(changes) ?? changes.map(toEvent).join('');
    printed.set(changes, events);
    return events;
  }
}

function toEvent(change: Change): string {
  return `id: ${change.seq}\nevent: ${change.type}\ndata: ${printJson(change)}\n\n`;
}

/** Throws if the query has a parameter that only a page supports. */
function requireStreamQuery({ after: _, limit: _limit, ...others }: Record<string, unknown>): void {
  const [name] = Object.entries(others).find(([, value]) => value !== undefined) ?? [];
  if (name === undefined) return;
  throw new PlantStoreError(
    'bad_parameter',
    `"${name}" must not be set for an event stream. Filter the changes yourself.`,
  );
}

/** Returns the parameter that continues a page after its last change. */
function continued(order: ChangeOrder | undefined, seq: number) {
  return order === 'desc' ? { before: seq } : { after: seq };
}

function toTimes(sinceMs: number | undefined, untilMs: number | undefined) {
  return {
    since: sinceMs === undefined ? undefined : toIsoTime(sinceMs),
    until: untilMs === undefined ? undefined : toIsoTime(untilMs),
  };
}
