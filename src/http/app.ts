// The way of a request, in order: route → headers → credentials → body → handler → answer. What door.ts does not let in
// comes to no handler, and a route that does not say who may call it stops the start.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Observe } from '../observe.ts';
import { createAddressOf } from './address.ts';
import { createAuthenticator, type VerifyJwt } from './auth.ts';
import { hasLongBody, MAX_BODY_BYTES, readBody, requireWanted } from './body.ts';
import * as connection from './connection.ts';
import { createCors } from './cors.ts';
import { createDoor } from './door.ts';
import { toPlantStoreError, toResponse } from './errors.ts';
import { Reply, Request } from './exchange.ts';
import { requireSoundHeaders } from './headers.ts';
import type { Incoming } from './incoming.ts';
import type { LoadMcp } from './mcp.ts';
import { readParameters } from './parameters.ts';
import { createPaths, decode, pathOf } from './paths.ts';
import { createRoutes, type RouteOptions, requireAccess } from './routes.ts';
import { send } from './send.ts';
import { createServer } from './server.ts';
import { type Certificate, HSTS } from './tls.ts';
import { createWatch } from './watch.ts';

export interface AppOptions extends Omit<RouteOptions, 'clock' | 'mcp'> {
  accessLog: boolean;
  observe: Observe;
  /** Without it no JWT is a credential. */
  verifyJwt: VerifyJwt | undefined;
  /** Whose `X-Forwarded-For` counts: addresses and networks, or how many proxies there are. */
  trustProxy: string[] | number | undefined;
  /** Whose pages may use it; `*` is any. */
  corsOrigins: string[];
  /** Loaded when somebody speaks MCP first. */
  loadMcp: LoadMcp;
  /** With it nothing but TLS is spoken. */
  certificate: Certificate | undefined;
  clock?: () => number;
}

/** It listens nowhere yet. */
export function createApp(options: AppOptions): Server {
  const { store, basePath, accessLog, observe, stopping, certificate, clock = Date.now } = options;
  const mcp = { load: options.loadMcp, corsOrigins: options.corsOrigins, observe };
  const routes = createRoutes({ ...options, mcp, clock });
  for (const route of routes) requireAccess(route);
  const paths = createPaths(routes, basePath);
  const addressOf = createAddressOf(options.trustProxy);
  const authenticator = createAuthenticator(store, options.verifyJwt, addressOf, clock);
  const watch = createWatch(authenticator, observe);
  const { letIn, requireStillGood } = createDoor(authenticator, observe);
  const answerOrigin = createCors(options.corsOrigins);

  return createServer(certificate).on('request', serve);

  async function serve(raw: Incoming, response: ServerResponse): Promise<void> {
    const request = new Request(raw, paths);
    const reply = new Reply(response);
    const { route } = request;
    if (route?.body?.schema) raw.keepBody(MAX_BODY_BYTES);
    try {
      if (receive(request, reply)) return await answer(request, reply.code(204), undefined);
      if (!route) return await refuseUnknown(request, reply);
      const { access, guard, parameters, body, isLong, handle } = route;
      const lookingUp = access === 'open' ? undefined : letIn(request, reply, access === 'any' ? undefined : access);
      if (lookingUp) await lookingUp;
      guard?.(request);
      if (body) requireWanted(request.headers, body);
      if (body && expectsContinue(raw)) response.writeContinue();
      const bytes = body?.schema && (await raw.wholeBody());
      if (connection.isTooLate(raw)) return;
      if (request.token && request.ageMs() > ADMITTED_MS) await requireStillGood(request);
      if (route.answer.status) reply.code(route.answer.status);
      const given = await handle({
        parameters: parameters ? readParameters(parameters, request) : {},
        body: body?.schema && bytes && readBody(body.schema, bytes),
        token: request.token,
        ended: isLong ? watch(request, reply) : NEVER,
        request,
        reply,
      });
      const sending = answer(request, reply, given);
      if (sending) await sending;
    } catch (error) {
      refuse(error, request, reply);
    }
  }

  /** True when it is a browser that asks if its page may ask. */
  function receive(request: Request, reply: Reply): boolean {
    if (accessLog) request.address = addressOf(request.raw);
    reply.raw.on('close', () => observeAnswer(request, reply));
    connection.noteRequest(request.raw, request.begunMs);
    reply.header('x-request-id', request.id);
    if (certificate) reply.header('strict-transport-security', HSTS);
    const isPreflight = answerOrigin(request, reply);
    requireSoundHeaders(request.raw);
    return isPreflight;
  }

  /** A stranger does not learn which paths there are below one that asks for a token. */
  async function refuseUnknown(request: Request, reply: Reply): Promise<never> {
    if (paths.needsToken(request.url)) await letIn(request, reply);
    throw paths.whyNone(request.url);
  }

  function refuse(error: unknown, request: Request, reply: Reply): void {
    const own = toPlantStoreError(error);
    if (own.code === 'bug') observe({ kind: 'bug', requestId: request.id, error: own.cause });
    const { status, headers, body } = toResponse(own);
    if (headers.connection === 'close') connection.closeAfterAnswer(request.raw);
    else closeWhereDue(request, reply);
    try {
      void send(reply.restart(status, headers), body);
    } catch {
      reply.raw.destroy(); // its beginning is on its way already, or cannot be sent: no reason to end the process
    }
  }

  function answer(request: Request, reply: Reply, given: unknown): void | Promise<void> {
    closeWhereDue(request, reply);
    return send(reply, given);
  }

  function closeWhereDue({ raw }: Request, reply: Reply): void {
    if (stopping.aborted && connection.isNewest(raw)) reply.header('connection', 'close');
    // A body that nobody will read, or that may or may not come: the next request could not be told from it.
    if (!raw.complete && (expectsContinue(raw) || hasLongBody(raw.headers))) {
      reply.header('connection', 'close');
      connection.closeAfterAnswer(raw);
    }
  }

  function observeAnswer(request: Request, { raw }: Reply): void {
    const isAnswered = raw.writableFinished || (raw.headersSent && request.raw.complete);
    const status = isAnswered ? raw.statusCode : (connection.refusedWith(request.raw.socket) ?? NO_ANSWER);
    const durationMs = request.ageMs();
    observe({ kind: 'answer', route: request.route, status, durationMs });
    if (accessLog) {
      observe({
        kind: 'request',
        requestId: request.id,
        method: request.method,
        path: loggable(request.url),
        status,
        durationMs: Math.round(durationMs * 1000) / 1000,
        tokenId: request.token?.id,
        address: request.address,
      });
    }
  }
}

const JWT = /^[\w-]{8,}\.[\w-]{8,}\.[\w-]*$/;
/** For so long after its headers a request is let in as it was then. */
const ADMITTED_MS = 250;
/** The client went away before it had an answer. Not one of HTTP, yet known to those who read logs. */
const NO_ANSWER = 499;
const NEVER = new AbortController().signal;

/** A token anywhere in it, a JWT, or what cannot be read. */
function holdsSecret(segment: string): boolean {
  const text = decode(segment);
  const isUnread = text === segment && segment.includes('%');
  return isUnread || text.includes('pst_') || text.split(/[^\w.-]+/).some((word) => JWT.test(word));
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect?.toLowerCase() === '100-continue' && httpVersion === '1.1';
}

/** Without what may be a secret: the query, a user's name and password, a token in the wrong place. */
function loggable(url: string): string {
  const segments = pathOf(url).split('/');
  return segments.map((segment) => (holdsSecret(segment) ? '…' : segment)).join('/');
}
