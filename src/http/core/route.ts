// The definition of a route: its path, access, parameters, body, response and handler. Admission, validation, the
// OpenAPI description, 404 and 405 all use the same definition.

import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Scope } from '../../domain/names.ts';
import type { Token } from '../../domain/token.ts';
import type { RequestBody } from './json-body.ts';
import type { Parameter } from './parameters.ts';
import type { HttpReply, HttpRequest } from './request-reply.ts';

/**
 * The required scope, or a list of scopes that are all required. `any` accepts every valid credential. `open` requires
 * none.
 */
export type Access = Scope | readonly Scope[] | 'any' | 'open';

/** Returns the scopes that every request of a route must have. */
export function scopesOf(access: Access): readonly Scope[] {
  if (access === 'any' || access === 'open') return [];
  return typeof access === 'string' ? [access] : access;
}

// biome-ignore lint/suspicious/noExplicitAny: a table holds parameters of all types
type Parameters = Record<string, Parameter<any>>;

/** Values of the parameters. Only path parameters are always present. */
type Values<P extends Parameters> = {
  [Name in keyof P]: P[Name] extends Parameter<infer T> & { in: 'path' }
    ? T
    : P[Name] extends Parameter<infer T>
      ? T | undefined
      : never;
};

export interface Call<Body, P extends Parameters, A extends Access> {
  body: Body;
  parameters: Values<P>;
  token: A extends 'open' ? undefined : Token;
  /** Aborts when the credential of an `isLong` route no longer permits it. Never aborts for other routes. */
  ended: AbortSignal;
  request: HttpRequest;
  reply: HttpReply;
}

/** The description of a header. Without an example of its own, the header has the example of its name. */
export type HeaderText = string | { description: string; example: string };

export interface RouteResponse {
  status?: 200 | 201 | 202 | 204;
  description: string;
  /** Schema of a JSON response. */
  schema?: z.ZodType;
  /** Other media types that the client can request with `Accept`. */
  streams?: string[];
  /** Example of a stream, for media types whose content differs from route to route. */
  streamExample?: string;
  headers?: Record<string, HeaderText>;
  /** True if the route can return 304. */
  notModified?: boolean;
}

export interface Definition<Body, P extends Parameters, A extends Access> {
  summary: string;
  description?: string;
  parameters?: P;
  /** True if a request may take very long. `ended` then aborts when the credential no longer permits it. */
  isLong?: true;
  /** True if a request takes milliseconds of work. It starts in a turn of the event loop that no other one shares. */
  takesTurn?: true;
  /**
   * True if requests of one connection may run concurrently. Other requests wait until earlier ones have their
   * responses.
   */
  isConcurrent?: true;
  /**
   * Runs for a request with a valid credential, before its parameters and its body are read. Throws to reject the
   * request, or sets headers that every response then has.
   */
  prepare?(request: HttpRequest, reply: HttpReply): void | Promise<void>;
  /** The accepted body. Undefined if the operation has none. */
  body?: RequestBody<Body>;
  response: RouteResponse;
  /** Errors that the access, the parameters and the body do not already imply. */
  errors?: ErrorCode[];
  /** Returns the value to send as JSON, or the stream to send. */
  handle(call: Call<Body, P, A>): unknown;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route extends Definition<unknown, Parameters, Access> {
  method: Method;
  path: string;
  operationId: string;
  access: Access;
}

/** Documented headers of a response that caches must not store. */
export const NO_STORE = { 'Cache-Control': 'Always `no-store`' };

/** Creates a route and infers the types of the body, the parameters and the token for its handler. */
export function route<Body, A extends Access, P extends Parameters = Record<never, never>>(
  methodAndPath: `${Method} ${string}`,
  operationId: string,
  access: A,
  definition: Definition<Body, P, A>,
): Route {
  const [method, path] = methodAndPath.split(' ');
  return { method, path, operationId, access, ...definition } as unknown as Route;
}
