// What a route is: one entry says its path, who may call it, what it takes and gives, and what it does.
// Admission, validation, OpenAPI, 404 and 405 all read the same entry.

import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors.ts';
import type { Scope } from '../../domain/names.ts';
import type { Token } from '../../domain/token.ts';
import type { RequestBody } from './json-body.ts';
import type { Parameter } from './parameters.ts';
import type { HttpReply, HttpRequest } from './request-reply.ts';

/** The scope that a token must have, or a list of scopes it must have all. `any` is every good credential, whatever its scopes. */
export type Access = Scope | readonly Scope[] | 'any' | 'open';

// biome-ignore lint/suspicious/noExplicitAny: a table holds parameters of all types
type Parameters = Record<string, Parameter<any>>;

/** What is not in the path may be missing. */
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
  /** For a route that is long; never aborts for others. */
  ended: AbortSignal;
  request: HttpRequest;
  reply: HttpReply;
}

export interface RouteResponse {
  status?: 200 | 201 | 202 | 204;
  description: string;
  /** Schema of a JSON response. */
  schema?: z.ZodType;
  /** Other media types, by what the client accepts. */
  streams?: string[];
  headers?: Record<string, string>;
  /** A 304 is possible. */
  notModified?: boolean;
}

export interface Definition<Body, P extends Parameters, A extends Access> {
  summary: string;
  description?: string;
  parameters?: P;
  /** It may take very long: `ended` aborts when the credential is no longer good. */
  isLong?: true;
  /** A client may have many of these in progress on one connection. Other requests wait until those before them are answered. */
  isConcurrent?: true;
  /** Refuses who may not ask although the credential is good, before the body is looked at. */
  guard?(request: HttpRequest): void;
  /** Without it the operation takes none. */
  body?: RequestBody<Body>;
  response: RouteResponse;
  /** Those that not every operation with the same access, parameters and body can give. */
  errors?: ErrorCode[];
  /** Returns the JSON of the response, or the stream that is sent. */
  handle(call: Call<Body, P, A>): unknown;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface Route extends Definition<unknown, Parameters, Access> {
  method: Method;
  path: string;
  operationId: string;
  access: Access;
}

/** Headers of a response with a secret in it. */
export const NO_STORE = { 'Cache-Control': '`no-store`' };

/** Lets the types of body, parameters and token flow into the handler. */
export function route<Body, A extends Access, P extends Parameters = Record<never, never>>(
  methodAndPath: `${Method} ${string}`,
  operationId: string,
  access: A,
  definition: Definition<Body, P, A>,
): Route {
  const [method, path] = methodAndPath.split(' ');
  return { method, path, operationId, access, ...definition } as unknown as Route;
}
