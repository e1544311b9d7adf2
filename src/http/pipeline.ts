// The way of a request, in order: route → headers → credentials → body → handler → answer. What door.ts does not let in
// comes to no handler, and a route that does not say who may call it stops the start.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createBugReport } from '../observability/bug-report.ts';
import { CLIENT_CLOSED_REQUEST, type Observe } from '../observability/service-events.ts';
import type { TracedRequest, Tracing } from '../observability/tracing.ts';
import { createDoor } from './access/admission.ts';
import { createAuthenticator, type VerifyJwt } from './access/authenticator.ts';
import { createAddressOf, createTrusted } from './access/client-address.ts';
import { createWatch } from './access/revocation-watch.ts';
import type { Incoming } from './core/buffered-request.ts';
import * as connection from './core/connection.ts';
import { createCors } from './core/cors.ts';
import { toPlantStoreError, toResponse } from './core/error-response.ts';
import { requireSoundHeaders } from './core/header-checks.ts';
import { hasLongBody, MAX_BODY_BYTES, readBody, requireWanted } from './core/json-body.ts';
import { readParameters } from './core/parameters.ts';
import { holdReading } from './core/paused-reading.ts';
import { loggable } from './core/redact-path.ts';
import { createRequestOrder } from './core/request-order.ts';
import { Reply, Request } from './core/request-reply.ts';
import { createPaths } from './core/router.ts';
import { send } from './core/send-reply.ts';
import { createServer } from './core/server.ts';
import { type Certificate, HSTS } from './core/tls.ts';
import { createRoutes, type RouteOptions, requireAccess } from './routes/all-routes.ts';
import type { LoadMcp } from './routes/mcp.ts';

export interface AppOptions extends Omit<RouteOptions, 'clock' | 'mcp'> {
  accessLog: boolean;
  observe: Observe;
  /** Without them a request takes no other way than it would if there were none. */
  tracing: Tracing | undefined;
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
  const { store, basePath, accessLog, observe, tracing, stopping, certificate, clock = Date.now } = options;
  const mcp = { load: options.loadMcp, corsOrigins: options.corsOrigins, observe };
  const routes = createRoutes({ ...options, mcp, clock });
  for (const route of routes) requireAccess(route);
  const paths = createPaths(routes, basePath);
  const addressOf = createAddressOf(options.trustProxy);
  const authenticator = createAuthenticator(store, options.verifyJwt, addressOf, clock, createBugReport(observe));
  const watch = createWatch(authenticator, observe);
  const { letIn, requireStillGood } = createDoor(authenticator, observe);
  const answerOrigin = createCors(options.corsOrigins);

  const requests = createRequestOrder(
    (raw) => paths.find(raw.method ?? '', raw.url ?? '')?.route,
    tracing ? inSpan(tracing) : serve,
  );

  return createServer(certificate, createTrusted(options.trustProxy)).on('request', requests.add);

  function inSpan({ traceRequest: begin }: Tracing): (raw: Incoming, response: ServerResponse) => void {
    const names = new Map(routes.map((route) => [route, (basePath + route.path).replace(/:(\w+)/g, '{$1}')]));
    return (raw, response) => {
      const request = new Request(raw, paths);
      const name = request.route && names.get(request.route);
      const end = begin(toSeen(request, name), () => void serve(raw, response, request));
      response.on('close', () => end(statusOf(request, response)));
    };
  }

  function toSeen({ id, method, url, headers, raw: { socket } }: Request, route: string | undefined): TracedRequest {
    return {
      id,
      method,
      route,
      path: url === route ? url : loggable(url),
      scheme: certificate ? 'https' : 'http',
      address: socket.localAddress,
      port: socket.localPort,
      headers,
    };
  }

  async function serve(raw: Incoming, response: ServerResponse, request = new Request(raw, paths)): Promise<void> {
    const reply = new Reply(response);
    const { route } = request;
    try {
      if (receive(request, reply)) {
        raw.dropBody();
        return await answer(request, reply.code(204), undefined);
      }
      if (!route) return await refuseUnknown(request, reply);
      const { access, guard, parameters, body, isLong, handle } = route;
      const lookingUp = access === 'open' ? undefined : letIn(request, reply, access === 'any' ? undefined : access);
      if (lookingUp) await whileNothingIsRead(lookingUp, raw);
      guard?.(request);
      if (body) requireWanted(request.headers, body);
      if (!body && raw.hasBody) raw.dropBody();
      else if (body?.schema) raw.keepBody(MAX_BODY_BYTES);
      else if (body) raw.streamBody();
      if (body && expectsContinue(raw)) {
        request.isContinued = true;
        response.writeContinue();
      }
      const bytes = body?.schema && (await raw.wholeBody());
      if (connection.isTooLate(raw)) return;
      if (request.token && request.ageMs() > ADMITTED_MS) await requireStillGood(request);
      if (isLong && !body) requests.holdOthers(raw);
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
    reply.raw.on('close', () => {
      observeAnswer(request, reply);
      requests.finish(request.raw);
    });
    connection.noteRequest(request.raw, request.begunMs);
    reply.header('x-request-id', request.id);
    if (certificate) reply.header('strict-transport-security', HSTS);
    const isPreflight = answerOrigin(request, reply);
    requireSoundHeaders(request.raw);
    return isPreflight;
  }

  /** A stranger does not learn which paths there are below one that asks for a token. */
  async function refuseUnknown(request: Request, reply: Reply): Promise<never> {
    const lookingUp = paths.needsToken(request.url) && letIn(request, reply);
    if (lookingUp) await whileNothingIsRead(lookingUp, request.raw);
    throw paths.whyNone(request.url);
  }

  function refuse(error: unknown, request: Request, reply: Reply): void {
    const own = toPlantStoreError(error);
    request.raw.dropBody();
    if (own.code === 'over_share') {
      observe({ kind: 'refused', reason: 'share', requestId: request.id, why: request.token?.id });
    }
    if (own.code === 'bug') observe({ kind: 'bug', requestId: request.id, error: own.cause });
    const { status, headers, body } = toResponse(own);
    if (headers.connection === 'close') connection.closeAfterAnswer(request.raw);
    else closeWhereDue(request, reply);
    try {
      void send(reply.restart(status, headers), body);
    } catch (failure) {
      if (!reply.raw.headersSent) observe({ kind: 'bug', requestId: request.id, error: failure }); // it cannot be sent
      reply.raw.destroy(); // or its beginning is on its way already: no reason to end the process
    }
  }

  function answer(request: Request, reply: Reply, given: unknown): void | Promise<void> {
    closeWhereDue(request, reply);
    return send(reply, given);
  }

  function closeWhereDue({ raw, isContinued }: Request, reply: Reply): void {
    if (stopping.aborted && connection.isNewest(raw) && !requests.hasQueued(raw)) reply.header('connection', 'close');
    // A body that nobody will read, or that may or may not come: the next request could not be told from it. (Who was not
    // told to go on may do so or not; Node closes then, also where no body can come.)
    const isUnclear = expectsContinue(raw) && !isContinued;
    if (
      raw.headers.upgrade !== undefined ||
      isUnclear ||
      (!raw.complete && (expectsContinue(raw) || hasLongBody(raw.headers)))
    ) {
      reply.header('connection', 'close');
      connection.closeAfterAnswer(raw);
    }
  }

  function observeAnswer(request: Request, { raw }: Reply): void {
    const status = statusOf(request, raw);
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

/** For so long after its headers a request is let in as it was then. */
const ADMITTED_MS = 250;
const NEVER = new AbortController().signal;

/** What came in one piece with the headers is held, all else stays with the sender: the request may be refused. */
async function whileNothingIsRead(lookingUp: Promise<void>, raw: Incoming): Promise<void> {
  if (!raw.hasBody) return lookingUp;
  raw.holdBody();
  holdReading(raw.socket);
  await lookingUp.finally(() => connection.resumeReading(raw.socket));
}

function statusOf({ raw }: Request, response: ServerResponse): number {
  const isAnswered = response.writableFinished || (response.headersSent && raw.complete);
  return isAnswered ? response.statusCode : (connection.refusedWith(raw.socket) ?? CLIENT_CLOSED_REQUEST);
}

/** As Node sees it. */
function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect !== undefined && httpVersion === '1.1' && /(?:^|\W)100-continue(?:$|\W)/i.test(headers.expect);
}
