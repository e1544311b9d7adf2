// The steps of a request, in order: route → headers → credentials → body → handler → response. No handler runs for a
// request that access/admission.ts rejects. The service does not start if a route does not declare its access.

import type { ServerResponse } from 'node:http';
import type { PlantStoreError } from '../domain/errors.ts';
import { nextEventLoopTurn } from '../lib/event-loop-turns.ts';
import { createBugReport } from '../observability/bug-report.ts';
import { ABORTED } from '../observability/service-events.ts';
import type { Tracing } from '../observability/tracing.ts';
import { type Admission, createAdmission } from './access/admission.ts';
import { createAuthenticator, type VerifyJwt } from './access/authenticator.ts';
import { createRevocationWatch, type RevocationWatch } from './access/revocation-watch.ts';
import { createUnreadCount } from './access/unread-responses.ts';
import { acceptBody, isEndUnclear } from './core/accept-body.ts';
import { type BufferedRequest, MAX_EARLY_BYTES } from './core/buffered-request.ts';
import { type AddressOf, createAddressOf, createTrusted } from './core/client-address.ts';
import { connectionOf } from './core/connection.ts';
import { createCors, type HandleOrigin } from './core/cors.ts';
import { toPlantStoreError, toResponse } from './core/error-response.ts';
import { requireSoundHeaders } from './core/header-checks.ts';
import { readBody } from './core/json-body.ts';
import { readParameters } from './core/parameters.ts';
import { createRequestIds } from './core/request-id.ts';
import { RequestOrder } from './core/request-order.ts';
import { HttpReply, HttpRequest } from './core/request-reply.ts';
import { type Route, scopesOf } from './core/route.ts';
import { createRouter, type Found, type Router } from './core/router.ts';
import { type CountUnread, sendReply } from './core/send-reply.ts';
import { createServer, type HttpServer } from './core/server.ts';
import { createServerUrlOf } from './core/server-url.ts';
import { type Certificate, HSTS } from './core/tls.ts';
import { observeRefusal, observeResponse, statusOf, toTracedRequest } from './observe-response.ts';
import { createAllRoutes, type RouteOptions, requireAccess } from './routes/all-routes.ts';

export interface PipelineOptions extends RouteOptions {
  accessLog: boolean;
  /** Undefined if tracing is off. Requests then take a path without any tracing code. */
  tracing: Tracing | undefined;
  /** Undefined if JWTs are not configured. */
  verifyJwt: VerifyJwt | undefined;
  /** Proxies whose `X-Forwarded-For` is trusted: addresses and networks, or the number of proxies. */
  trustProxy: string[] | number | undefined;
  /** If set, the server accepts only TLS. */
  certificate: Certificate | undefined;
}

/** Time for which the admission of a request stays valid. For a slower body, the credential is checked again. */
const ADMITTED_MS = 250;
const NEVER = new AbortController().signal;

/** The HTTP server with all routes. The constructor does not start to listen. */
export class Pipeline {
  readonly http: HttpServer;
  readonly #options: PipelineOptions;
  readonly #router: Router;
  readonly #requestIds = createRequestIds();
  readonly #order: RequestOrder;
  readonly #addressOf: AddressOf;
  readonly #admission: Admission;
  readonly #watchRevocation: RevocationWatch;
  readonly #countUnread: CountUnread;
  readonly #handleOrigin: HandleOrigin;

  constructor(options: PipelineOptions) {
    const { store, basePath, observe, tracing, certificate, timeouts, trustProxy, limits, clock } = options;
    const isProxy = createTrusted(trustProxy);
    const routes = createAllRoutes(options, createServerUrlOf(basePath, certificate !== undefined, isProxy));
    for (const route of routes) requireAccess(route);
    this.#options = options;
    this.#router = createRouter(routes, basePath);
    this.#addressOf = createAddressOf(trustProxy);
    const authenticator = createAuthenticator({
      tokens: store,
      verifyJwt: options.verifyJwt,
      limits,
      addressOf: this.#addressOf,
      clock,
      reportBug: createBugReport(observe),
    });
    this.#admission = createAdmission(authenticator, limits);
    this.#watchRevocation = createRevocationWatch(authenticator);
    this.#countUnread = createUnreadCount(limits.counts);
    this.#handleOrigin = createCors(options.corsOrigins);
    this.#order = new RequestOrder({
      routeOf: (raw) => this.#find(raw)?.route,
      start: tracing ? this.#serveInSpan(tracing, routes) : (raw, response) => this.#start(raw, response),
      counts: limits.counts,
    });
    const { counts } = limits;
    this.http = createServer(certificate, { isProxy, counts, timeouts, nextRequestId: this.#requestIds.next });
    this.http.server.on('request', (raw, response) => this.#order.add(raw, response));
  }

  #find({ method = '', url = '' }: BufferedRequest): Found | undefined {
    return this.#router.find(method, url);
  }

  #open(raw: BufferedRequest, found: Found | undefined): HttpRequest {
    return new HttpRequest(raw, this.#requestIds.of(raw.headers), found?.params ?? {});
  }

  #start(raw: BufferedRequest, response: ServerResponse): void {
    const found = this.#find(raw);
    void this.#serve(this.#open(raw, found), response, found?.route);
  }

  #serveInSpan({ traceRequest }: Tracing, routes: Route[]): (raw: BufferedRequest, response: ServerResponse) => void {
    const { basePath, certificate } = this.#options;
    const names = new Map(routes.map((route) => [route, (basePath + route.path).replace(/:(\w+)/g, '{$1}')]));
    return (raw, response) => {
      const found = this.#find(raw);
      const request = this.#open(raw, found);
      const name = found && names.get(found.route);
      const traced = toTracedRequest(request, name, certificate ? 'https' : 'http');
      const end = traceRequest(traced, () => void this.#serve(request, response, found?.route));
      response.on('close', () => end(statusOf(request, response)));
    };
  }

  async #serve(request: HttpRequest, response: ServerResponse, route: Route | undefined): Promise<void> {
    const reply = new HttpReply(response);
    const { raw } = request;
    try {
      if (this.#receive(request, reply, route)) {
        raw.dropBody();
        return await this.#respond(request, reply.code(204), undefined, NEVER);
      }
      if (!route) return await this.#rejectUnknown(request, reply);
      const { access, body } = route;
      const lookingUp = access === 'open' ? undefined : this.#admission.admit(request, reply, scopesOf(access));
      if (lookingUp) await this.#whileNothingIsRead(lookingUp, raw);
      const preparing = route.prepare?.(request, reply);
      if (preparing) await this.#whileNothingIsRead(preparing, raw);
      acceptBody(body, request, reply);
      const bytes = body?.schema && (await raw.wholeBody());
      if (connectionOf(raw.socket).isBehindLast(raw)) return;
      if (request.token && request.ageMs() > ADMITTED_MS) {
        await this.#admission.requireStillGood(request, scopesOf(access));
      }
      if (route.isLong && !body) this.#order.holdOthers(raw);
      const ended = route.isLong ? this.#watchRevocation(request, reply, scopesOf(access)) : NEVER;
      if (route.takesTurn) {
        await nextEventLoopTurn(request.token?.id);
        if (reply.raw.destroyed) return; // the client has left meanwhile
      }
      const given = await this.#handle(request, reply, route, bytes, ended);
      const sending = this.#respond(request, reply, given, ended);
      if (sending) await sending;
    } catch (error) {
      this.#respondWithError(error, request, reply);
    }
  }

  /** Prepares the reply and checks the headers. Returns true for a CORS preflight. */
  #receive(request: HttpRequest, reply: HttpReply, route: Route | undefined): boolean {
    const { accessLog, certificate, observe } = this.#options;
    if (accessLog) request.address = this.#addressOf(request.raw);
    reply.raw.on('close', () => {
      observeResponse(request, reply.raw, route, observe, accessLog);
      this.#order.finish(request.raw);
    });
    connectionOf(request.raw.socket).noteRequest(request.raw, request.startedMs);
    reply.header('x-request-id', request.id);
    if (certificate) reply.header('strict-transport-security', HSTS);
    const isPreflight = this.#handleOrigin(request, reply);
    requireSoundHeaders(request.raw);
    return isPreflight;
  }

  /**
   * Throws the error for an unknown path. Below a path that requires a token, it authenticates first and so reveals no
   * paths.
   */
  async #rejectUnknown(request: HttpRequest, reply: HttpReply): Promise<never> {
    const lookingUp = this.#router.needsToken(request.url) && this.#admission.admit(request, reply, []);
    if (lookingUp) await this.#whileNothingIsRead(lookingUp, request.raw);
    throw this.#router.whyNone(request.url);
  }

  /**
   * Buffers only the part of the body that arrived with the headers, and reads no more until the request is admitted.
   */
  async #whileNothingIsRead(lookingUp: Promise<void>, raw: BufferedRequest): Promise<void> {
    if (!raw.hasBody) return lookingUp;
    const connection = connectionOf(raw.socket);
    raw.holdBody((added) => this.#options.limits.earlyBytes.add(added) > MAX_EARLY_BYTES);
    connection.hold();
    await lookingUp.finally(() => connection.release());
  }

  #handle(
    request: HttpRequest,
    reply: HttpReply,
    { parameters, body, response, handle }: Route,
    bytes: Buffer | undefined,
    ended: AbortSignal,
  ): unknown {
    if (response.status) reply.code(response.status);
    return handle({
      parameters: parameters ? readParameters(parameters, request) : {},
      body: body?.schema && bytes && readBody(body.schema, bytes),
      token: request.token,
      ended,
      request,
      reply,
    });
  }

  #respond(request: HttpRequest, reply: HttpReply, given: unknown, ended: AbortSignal): void | Promise<void> {
    this.#closeWhereDue(request, reply);
    return this.#send(request, reply, given, ended);
  }

  #send({ token }: HttpRequest, reply: HttpReply, given: unknown, ended: AbortSignal): void | Promise<void> {
    return sendReply(reply, given, { token, ended, countUnread: this.#countUnread });
  }

  #respondWithError(error: unknown, request: HttpRequest, reply: HttpReply): void {
    const { observe } = this.#options;
    const own = toPlantStoreError(error);
    request.raw.dropBody();
    observeRefusal(own, request, observe);
    if (own.code === 'bug') observe({ kind: 'bug', requestId: request.id, error: own.cause });
    if (reply.raw.headersSent) {
      this.#abort(own, request, reply);
      return;
    }
    const { status, headers, body } = toResponse(own);
    if (headers.connection === 'close') this.http.connections.closeAfterResponse(request.raw);
    else this.#closeWhereDue(request, reply);
    try {
      void this.#send(request, reply.restart(status, headers), body, NEVER);
    } catch (failure) {
      observe({ kind: 'bug', requestId: request.id, error: failure }); // the error itself cannot be sent
      reply.raw.destroy();
    }
  }

  /** Ends a response that failed after its first byte. Only a closed connection can tell the client. */
  #abort({ code, message }: PlantStoreError, request: HttpRequest, { raw }: HttpReply): void {
    raw.statusCode = ABORTED; // for the log, the metrics and the traces
    raw.destroy();
    if (code === 'unavailable')
      this.#options.observe({ kind: 'response_aborted', requestId: request.id, reason: message });
  }

  #closeWhereDue(request: HttpRequest, reply: HttpReply): void {
    const { newest, queued } = connectionOf(request.raw.socket);
    const mustClose = isEndUnclear(request);
    const isLast = this.#options.stopping.aborted && newest === request.raw && queued === 0;
    if (isLast || mustClose) reply.header('connection', 'close');
    if (mustClose) this.http.connections.closeAfterResponse(request.raw);
  }
}
