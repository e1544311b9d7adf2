// POST /mcp: accepts one MCP message per request, with the same tokens, rates and limits as other routes. src/mcp
// processes the messages. The OpenAPI description omits this route: MCP has JSON-RPC errors and lists its own tools.

import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Scope } from '../../domain/names.ts';
import type { Token } from '../../domain/token.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import type { Requester } from '../../lib/semaphore.ts';
import type { Observe } from '../../observability/service-events.ts';
import { requesterOf } from '../access/requester.ts';
import { requireOrigin } from '../core/cors.ts';
import { jsonBody } from '../core/json-body.ts';
import { type Route, route } from '../core/route.ts';
import type { ReadSummary } from './cached-summary.ts';
import type { ReadStatus } from './status.ts';

interface McpResponse {
  status: number;
  /** The body as JSON, or an empty string. */
  text: string;
  /** The missing scope, if the token lacked the scope of the tool. */
  lacked: Scope | undefined;
}

type HandleMessage = (
  message: object,
  exchange: { token: Token; headers: IncomingHttpHeaders; requester: Requester },
) => Promise<McpResponse>;

/** Loads the MCP server with the sources that it shares with other routes. */
export type LoadMcp = (shared: { readSummary: ReadSummary; readStatus: ReadStatus }) => Promise<HandleMessage>;

/** One message. A batch is rejected, because it would count as one request against the rate. */
const Message = z.custom<object>(
  (message) => typeof message === 'object' && message !== null && !Array.isArray(message),
  { error: 'must be one JSON-RPC message (an object, not a batch)' },
);

export function mcpRoute(loadMcp: () => Promise<HandleMessage>, corsOrigins: string[], observe: Observe): Route {
  let loading: Promise<HandleMessage> | undefined;

  return route('POST /mcp', 'speakMcp', 'any', {
    summary: 'Handle an MCP message',
    body: jsonBody(Message),
    response: { description: 'The response to the message' },
    prepare: (request) => requireOrigin(request, corsOrigins),
    async handle({ body, token, request, reply }) {
      loading ??= loadMcp();
      loading.catch(() => (loading = undefined)); // the next request tries again
      const handleMessage = await loading;
      await nextEventLoopTurn(token.id); // many messages can wait for the first one to load the server
      const requester = requesterOf(token, reply);
      const { status, text, lacked } = await handleMessage(body, { token, headers: request.headers, requester });
      if (lacked) observe({ kind: 'refused', reason: 'scope', requestId: request.id, why: token.id });
      reply.code(status);
      return text === '' ? undefined : text;
    },
  });
}
