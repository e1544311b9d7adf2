// The door for assistants: MCP's messages by POST, one at a time, under the same token, rate and limits as all else. What
// they mean is not known here. It is in no OpenAPI description: its errors are JSON-RPC's, and its tools list themselves.

import type { IncomingHttpHeaders } from 'node:http';
import { z } from 'zod';
import type { Scope } from '../../domain/names.ts';
import type { Token } from '../../domain/token.ts';
import type { Observe } from '../../observability/service-events.ts';
import { requireOrigin } from '../core/cors.ts';
import { jsonBody } from '../core/json-body.ts';
import { type Route, route } from '../core/route.ts';

interface McpAnswer {
  status: number;
  /** JSON, or empty. */
  text: string;
  /** Scope of a tool that was called without it. */
  lacked: Scope | undefined;
}

type AnswerMessage = (message: object, exchange: { token: Token; headers: IncomingHttpHeaders }) => Promise<McpAnswer>;

export type LoadMcp = () => Promise<AnswerMessage>;

/** A batch would be many requests in the rate of one. */
const Message = z.custom<object>(
  (message) => typeof message === 'object' && message !== null && !Array.isArray(message),
  { error: 'must be one JSON-RPC message (an object, not a batch)' },
);

export function mcpRoute(loadMcp: LoadMcp, corsOrigins: string[], observe: Observe): Route {
  let loading: Promise<AnswerMessage> | undefined;

  return route('POST /mcp', 'speakMcp', 'any', {
    summary: 'Answer an assistant (Model Context Protocol)',
    body: jsonBody(Message),
    response: { description: 'The answer to the message' },
    guard: (request) => requireOrigin(request, corsOrigins),
    async handle({ body, token, request, reply }) {
      loading ??= loadMcp();
      loading.catch(() => (loading = undefined)); // the next may have more luck
      const answerMessage = await loading;
      const { status, text, lacked } = await answerMessage(body, { token, headers: request.headers });
      if (lacked) observe({ kind: 'refused', reason: 'scope', requestId: request.id, why: token.id });
      reply.code(status);
      return text === '' ? undefined : text;
    },
  });
}
