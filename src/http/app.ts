// The way of a request, in order: headers → credentials → route → body → handler → answer.
// A route that does not say who may call it cannot be written.

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PlantStoreError } from '../error.ts';
import { printJson } from '../json.ts';
import type { Metrics } from '../metrics.ts';
import type { Observe } from '../observe.ts';
import type { Store } from '../store.ts';
import type { Token } from '../token.ts';
import { createAuthenticate } from './auth.ts';
import { hasLongBody, MAX_BODY_BYTES, readBody, requireWanted } from './body.ts';
import * as connection from './connection.ts';
import { toPlantStoreError, toResponse } from './errors.ts';
import { eventRoutes } from './events.ts';
import { requestIdOf, requireSoundHeaders } from './headers.ts';
import { openapiRoute } from './openapi.ts';
import { operationRoutes } from './operations.ts';
import { readParameters } from './parameters.ts';
import { createPaths, pathOf } from './paths.ts';
import { plantRoutes } from './plants.ts';
import type { Route } from './route.ts';
import { transferRoutes } from './transfer.ts';
import { type WebhookTools, webhookRoutes } from './webhooks.ts';

export interface AppOptions {
  store: Store;
  basePath: string;
  accessLog: boolean;
  observe: Observe;
  metrics: Metrics;
  webhooks: WebhookTools;
  /** When it aborts: streams end, and connections are closed with their last answer. */
  stopping: AbortSignal;
  clock?: () => number;
}

type AdmittedRequest = FastifyRequest & { token?: Token };

export function createApp(options: AppOptions): FastifyInstance {
  const { store, basePath, accessLog, observe, metrics, webhooks, stopping, clock = Date.now } = options;
  const authenticate = createAuthenticate(store, clock);
  const routes = [
    ...plantRoutes(store, basePath),
    ...transferRoutes(store, stopping),
    ...eventRoutes(store, stopping),
    ...webhookRoutes(store, basePath, webhooks, clock),
    ...operationRoutes(store, metrics, stopping),
  ];
  routes.push(openapiRoute(routes, basePath));
  const paths = createPaths(routes, basePath);

  const app = fastify({
    genReqId: requestIdOf,
    routerOptions: { maxParamLength: connection.MAX_HEADER_BYTES }, // what is wrong with an id is for us to say
    bodyLimit: MAX_BODY_BYTES,
    keepAliveTimeout: connection.KEEP_ALIVE_TIMEOUT_MS,
    connectionTimeout: connection.STALLED_MS,
    http: {
      maxHeaderSize: connection.MAX_HEADER_BYTES,
      headersTimeout: connection.HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: connection.TIMEOUT_CHECK_MS,
      requireHostHeader: false, // ours in headers.ts: Node's own refusal has no body
    },
    clientErrorHandler: connection.onClientError,
    frameworkErrors: refuseUnreadablePath,
    return503OnClosing: false, // what still arrives while we stop is answered
  });
  connection.guardConnections(app.server);
  app.decorateRequest('token', undefined);
  app.addHook('onRequest', admit);
  if (accessLog) app.addHook('onResponse', async (request, reply) => observeRequest(request, reply));
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
    scope.route({ method: route.method, url: basePath + route.path, config: { route }, handler: handlerOf(route) });
  }

  async function admit(request: AdmittedRequest, reply: FastifyReply): Promise<void> {
    receive(request, reply);
    const { route } = request.routeOptions.config as { route?: Route };
    if (!route) {
      await requireTokenBelow(request);
      throw noRoute(request.url);
    }
    if (route.access !== 'open') request.token = await authenticate(request.headers.authorization, route.access);
    if (route.body) {
      requireWanted(request.headers, route.body);
      if (expectsContinue(request.raw)) reply.raw.writeContinue();
    } else {
      delete request.headers['content-type']; // or Fastify would read, and judge, a body that nobody wants
    }
  }

  function receive(request: FastifyRequest, reply: FastifyReply): void {
    connection.noteRequest(request.raw);
    reply.header('x-request-id', request.id);
    requireSoundHeaders(request.raw);
  }

  /** A stranger does not learn which paths there are below one that asks for a token. */
  async function requireTokenBelow({ url, headers }: FastifyRequest): Promise<void> {
    if (paths.needsToken(url)) await authenticate(headers.authorization);
  }

  function noRoute(url: string): PlantStoreError {
    const allow = paths.methodsAt(url);
    if (!allow) return new PlantStoreError('no_such_path', `No such path: see ${basePath}/openapi.json`);
    return new PlantStoreError('no_such_method', `This path takes only ${allow}`, { detail: { allow } });
  }

  function handlerOf({ parameters, body, answer, handle }: Route) {
    return async (request: AdmittedRequest, reply: FastifyReply): Promise<unknown> => {
      if (connection.isClosing(request.raw.socket)) return void reply.hijack();
      if (answer.status) reply.code(answer.status);
      const given = await handle({
        parameters: parameters ? readParameters(parameters, request) : {},
        body: body?.schema && readBody(body.schema, request.body as Buffer),
        token: request.token,
        request,
        reply,
      });
      closeWhereDue(request, reply);
      return given instanceof Readable && request.method === 'HEAD' ? given.destroy() : given;
    };
  }

  /** A path that the router cannot read does not come to `admit`. */
  async function refuseUnreadablePath(error: Error, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    try {
      receive(request, reply);
      await requireTokenBelow(request);
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

  function observeRequest(
    { id, method, url, token }: AdmittedRequest,
    { statusCode, elapsedTime }: FastifyReply,
  ): void {
    observe({
      kind: 'request',
      requestId: id,
      method,
      path: loggable(url),
      status: statusCode,
      durationMs: Math.round(elapsedTime * 1000) / 1000,
      tokenId: token?.id,
    });
  }
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
  return pathOf(url).replace(/pst_\w+/g, 'pst_…');
}
