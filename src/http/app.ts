// The way of a request, in order: headers → credentials → route → body → handler → answer.
// Every request passes `admit`; a route that does not say who may call it cannot be written.

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { PlantStoreError } from '../error.ts';
import { printJson } from '../json.ts';
import type { Observe } from '../observe.ts';
import type { Store } from '../store.ts';
import type { Token } from '../token.ts';
import { createAuthenticate } from './auth.ts';
import { MAX_BODY_BYTES, readBody, requireJson } from './body.ts';
import * as connection from './connection.ts';
import { toPlantStoreError, toResponse } from './errors.ts';
import { requestIdOf, requireSoundHeaders } from './headers.ts';
import { openapiRoute } from './openapi.ts';
import { operationRoutes } from './operations.ts';
import { createPaths } from './paths.ts';
import { plantRoutes } from './plants.ts';
import type { Route } from './route.ts';

export interface AppOptions {
  store: Store;
  basePath: string;
  accessLog: boolean;
  observe: Observe;
  isDraining(): boolean;
  clock?: () => number;
}

type AdmittedRequest = FastifyRequest & { token?: Token };

export function createApp(options: AppOptions): FastifyInstance {
  const { store, basePath, accessLog, observe, isDraining, clock = Date.now } = options;
  const authenticate = createAuthenticate(store, clock);
  const routes = [...plantRoutes(store, basePath), ...operationRoutes(store, isDraining)];
  routes.push(openapiRoute(routes, basePath));
  const paths = createPaths(routes, basePath);

  const app = fastify({
    genReqId: requestIdOf,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: connection.REQUEST_TIMEOUT_MS,
    keepAliveTimeout: connection.KEEP_ALIVE_TIMEOUT_MS,
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
  for (const route of routes) {
    app.route({ method: route.method, url: basePath + route.path, config: { route }, handler: handlerOf(route) });
  }
  return app;

  async function admit(request: AdmittedRequest, reply: FastifyReply): Promise<void> {
    receive(request, reply);
    const { route } = request.routeOptions.config as { route?: Route };
    if (!route) {
      await requireTokenBelow(request);
      throw noRoute(request.url);
    }
    if (route.access !== 'open') request.token = await authenticate(request.headers.authorization, route.access);
    if (route.body) {
      requireJson(request.headers);
      if (request.headers.expect?.toLowerCase() === '100-continue') reply.raw.writeContinue();
    }
  }

  function receive(request: FastifyRequest, reply: FastifyReply): void {
    reply.header('x-request-id', request.id);
    if (isDraining()) reply.header('connection', 'close');
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
    // Who waits for 100 Continue may send the body all the same or leave it out: what comes next cannot be told.
    if (request.headers.expect && !request.raw.complete) headers.connection = 'close';
    if (headers.connection === 'close' && !request.raw.complete) connection.lingerAfterAnswer(request.raw.socket);
    reply.code(status).headers(headers).send(body);
  }

  function observeRequest(
    { id, method, url, token }: AdmittedRequest,
    { statusCode, elapsedTime }: FastifyReply,
  ): void {
    const path = url.replace(/\?.*$/s, ''); // a query may hold what should not be logged
    observe({
      kind: 'request',
      requestId: id,
      method,
      path,
      status: statusCode,
      durationMs: Math.round(elapsedTime * 1000) / 1000,
      tokenId: token?.id,
    });
  }
}

function handlerOf({ body, handle }: Route): (request: AdmittedRequest, reply: FastifyReply) => unknown {
  return (request, reply) =>
    handle({ body: body && readBody(body, request.body as Buffer), token: request.token, reply });
}
