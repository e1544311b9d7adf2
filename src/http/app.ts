// The way of a request, in order: headers → credentials → route → body → handler → answer. What `admit` does not let in
// comes to no handler, and a route that does not say who may call it is not mounted.

import type { IncomingMessage } from 'node:http';
import type { ServerOptions } from 'node:https';
import { Readable } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PlantStoreError } from '../error.ts';
import { printJson } from '../json.ts';
import type { Observe } from '../observe.ts';
import { createAuthenticator, type VerifyJwt } from './auth.ts';
import { hasLongBody, MAX_BODY_BYTES, readBody, requireWanted } from './body.ts';
import * as connection from './connection.ts';
import { createCors } from './cors.ts';
import { type AdmittedRequest, createDoor } from './door.ts';
import { toPlantStoreError, toResponse } from './errors.ts';
import { requestIdOf, requireSoundHeaders } from './headers.ts';
import { readParameters } from './parameters.ts';
import { createPaths, decode, pathOf } from './paths.ts';
import type { Route } from './route.ts';
import { createRoutes, type RouteOptions, requireAccess } from './routes.ts';
import { type Certificate, HANDSHAKE_TIMEOUT_MS, HSTS } from './tls.ts';
import { createWatch } from './watch.ts';

export interface AppOptions extends Omit<RouteOptions, 'clock'> {
  accessLog: boolean;
  observe: Observe;
  /** Without it no JWT is a credential. */
  verifyJwt: VerifyJwt | undefined;
  /** Whose `X-Forwarded-For` counts: addresses and networks, or how many proxies there are. */
  trustProxy: string[] | number | undefined;
  /** Whose pages may use it; `*` is any. */
  corsOrigins: string[];
  /** With it nothing but TLS is spoken. */
  certificate: Certificate | undefined;
  clock?: () => number;
}

export function createApp(options: AppOptions): FastifyInstance {
  const { store, basePath, accessLog, observe, stopping, certificate, clock = Date.now } = options;
  const routes = createRoutes({ ...options, clock });
  const paths = createPaths(routes, basePath);
  const authenticator = createAuthenticator(store, options.verifyJwt, clock);
  const watch = createWatch(authenticator, observe);
  const { letIn, requireStillGood } = createDoor(authenticator, observe);
  const answerOrigin = createCors(options.corsOrigins);

  const app = fastify({
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: connection.MAX_HEADER_BYTES }, // what is wrong with an id is for us to say
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: connection.KEEP_ALIVE_TIMEOUT_MS,
    connectionTimeout: connection.STALLED_MS,
    trustProxy: toTrust(options.trustProxy),
    ...serverOptions(certificate),
    clientErrorHandler: connection.onClientError,
    frameworkErrors: refuseUnreadablePath,
    return503OnClosing: false, // what still arrives while we stop is answered
  });
  connection.guardConnections(app.server);
  app.decorateRequest('token', undefined);
  app.decorateRequest('begunMs', 0);
  app.decorateRequest('address', undefined);
  app.addHook('onRequest', admit);
  app.removeAllContentTypeParsers(); // the bytes as they came: body.ts reads them
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, bytes, done) => done(null, bytes));
  app.setReplySerializer(printJson);
  app.setErrorHandler(refuse);
  const [streaming, others] = [routes.filter(takesStream), routes.filter((route) => !takesStream(route))];
  for (const route of others) mount(app, route);
  for (const { method, path } of paths.shadowed()) {
    app.route({ method, url: basePath + path, exposeHeadRoute: true, handler: () => undefined }); // `admit` refuses it
  }
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _stream, done) => done(null));
    for (const route of streaming) mount(scope, route);
  });
  return app;

  function mount(scope: FastifyInstance, route: Route): void {
    requireAccess(route);
    scope.route({ method: route.method, url: basePath + route.path, config: { route }, handler: handlerOf(route) });
  }

  async function admit(request: AdmittedRequest, reply: FastifyReply): Promise<void> {
    if (receive(request, reply)) return answerPreflight(request, reply);
    const route = routeOf(request);
    if (!route) {
      await requireTokenBelow(request, reply);
      throw noRoute(request.url);
    }
    if (route.access !== 'open') await letIn(request, reply, route.access);
    if (route.body) {
      requireWanted(request.headers, route.body);
      if (expectsContinue(request.raw)) reply.raw.writeContinue();
    } else {
      delete request.headers['content-type']; // or Fastify would read, and judge, a body that nobody wants
    }
  }

  /** True when it is a browser that asks if its page may ask. */
  function receive(request: AdmittedRequest, reply: FastifyReply): boolean {
    request.begunMs = performance.now();
    if (accessLog) request.address = request.ip; // when the client is gone it cannot be told any more
    reply.raw.on('close', () => observeAnswer(request, reply));
    connection.noteRequest(request.raw);
    reply.header('x-request-id', request.id);
    if (certificate) reply.header('strict-transport-security', HSTS);
    const isPreflight = answerOrigin(request, reply);
    requireSoundHeaders(request.raw);
    return isPreflight;
  }

  function answerPreflight(request: FastifyRequest, reply: FastifyReply): void {
    closeWhereDue(request, reply);
    reply.code(204).send();
  }

  /** A stranger does not learn which paths there are below one that asks for a token. */
  async function requireTokenBelow(request: AdmittedRequest, reply: FastifyReply): Promise<void> {
    if (paths.needsToken(request.url)) await letIn(request, reply);
  }

  function noRoute(url: string): PlantStoreError {
    const allow = paths.methodsAt(url);
    if (!allow) return new PlantStoreError('no_such_path', `No such path: see ${basePath}/openapi.json`);
    return new PlantStoreError('no_such_method', `This path takes only ${allow}`, { detail: { allow } });
  }

  function handlerOf({ parameters, body, answer, isLong, handle }: Route) {
    return async (request: AdmittedRequest, reply: FastifyReply): Promise<unknown> => {
      if (connection.isClosing(request.raw.socket)) return void reply.hijack();
      if (request.token && ageMs(request) > ADMITTED_MS) await requireStillGood(request);
      if (answer.status) reply.code(answer.status);
      const given = await handle({
        parameters: parameters ? readParameters(parameters, request) : {},
        body: body?.schema && readBody(body.schema, request.body as Buffer),
        token: request.token,
        ended: isLong ? watch(request, reply) : NEVER,
        request,
        reply,
      });
      closeWhereDue(request, reply);
      return given instanceof Readable && request.method === 'HEAD' ? given.destroy() : given;
    };
  }

  /** A path that the router cannot read does not come to `admit`. */
  async function refuseUnreadablePath(error: Error, request: AdmittedRequest, reply: FastifyReply): Promise<void> {
    try {
      if (receive(request, reply)) return answerPreflight(request, reply);
      await requireTokenBelow(request, reply);
      refuse(error, request, reply);
    } catch (earlier) {
      refuse(earlier, request, reply);
    }
  }

  function refuse(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const own = toPlantStoreError(error);
    if (own.code === 'bug') observe({ kind: 'bug', requestId: request.id, error: own.cause });
    const { status, headers, body } = toResponse(own);
    if (headers.connection === 'close') connection.closeAfterAnswer(request.raw);
    else closeWhereDue(request, reply);
    reply.code(status).headers(headers).send(body);
  }

  function closeWhereDue({ raw }: FastifyRequest, reply: FastifyReply): void {
    if (stopping.aborted && connection.isNewest(raw)) reply.header('connection', 'close');
    // A body that nobody will read, or that may or may not come: the next request could not be told from it.
    if (!raw.complete && (expectsContinue(raw) || hasLongBody(raw.headers))) {
      reply.header('connection', 'close');
      connection.closeAfterAnswer(raw);
    }
  }

  /** Fastify's own hook would not hear of those whose client goes away. */
  function observeAnswer(request: AdmittedRequest, { raw }: FastifyReply): void {
    const isAnswered = raw.writableFinished || (raw.headersSent && request.raw.complete);
    const status = isAnswered ? raw.statusCode : (connection.refusedWith(request.raw.socket) ?? NO_ANSWER);
    const durationMs = ageMs(request);
    observe({ kind: 'answer', route: routeOf(request), status, durationMs });
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

/** Of a number of proxies: the address that the last of them saw. */
function toTrust(trusted: AppOptions['trustProxy']): string[] | ((address: string, hop: number) => boolean) | false {
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted;
  return trusted ?? false;
}

/** Typed as without TLS: a server with it differs in nothing that is used here. */
function serverOptions(certificate: Certificate | undefined): { http: object } {
  const options = {
    maxHeaderSize: connection.MAX_HEADER_BYTES,
    headersTimeout: connection.HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: connection.TIMEOUT_CHECK_MS,
    requireHostHeader: false, // ours in headers.ts: Node's own refusal has no body
  };
  const https: ServerOptions = { ...options, ...certificate, handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
  return certificate ? ({ https } as object as { http: object }) : { http: options };
}

/** A token anywhere in it, a JWT, or what cannot be read. */
function holdsSecret(segment: string): boolean {
  const text = decode(segment);
  const isUnread = text === segment && segment.includes('%');
  return isUnread || text.includes('pst_') || text.split(/[^\w.-]+/).some((word) => JWT.test(word));
}

function ageMs({ begunMs = 0 }: AdmittedRequest): number {
  return performance.now() - begunMs;
}

function routeOf({ routeOptions }: FastifyRequest): Route | undefined {
  return (routeOptions.config as { route?: Route }).route;
}

/** Its handler reads the body as it comes. */
function takesStream({ body }: Route): boolean {
  return body !== undefined && body.schema === undefined;
}

function expectsContinue({ headers, httpVersion }: IncomingMessage): boolean {
  return headers.expect?.toLowerCase() === '100-continue' && httpVersion === '1.1';
}

/** Without what may be a secret: the query, a user's name and password, a token in the wrong place. */
function loggable(url: string): string {
  const segments = pathOf(url).split('/');
  return segments.map((segment) => (holdsSecret(segment) ? '…' : segment)).join('/');
}
