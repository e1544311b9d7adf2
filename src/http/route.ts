// What a route is: one entry says its path, who may call it, what it takes and gives, and what it does.
// Admission, validation, OpenAPI, 404 and 405 all read the same entry.

import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import type { ErrorCode } from '../error.ts';
import type { Scope, Token } from '../token.ts';

export type Access = Scope | 'open';

export interface Call<Body, A extends Access> {
  body: Body;
  token: A extends 'open' ? undefined : Token;
  reply: FastifyReply;
}

export interface Definition<Body, A extends Access> {
  method: 'GET' | 'POST';
  path: string;
  access: A;
  operationId: string;
  summary: string;
  description?: string;
  /** Of the JSON body; without it the operation takes none. */
  body?: z.ZodType<Body>;
  answer: { description: string; schema: z.ZodType; headers?: Record<string, string> };
  /** Those that not every operation with the same access and body can give. */
  errors?: ErrorCode[];
  /** What it returns is the JSON of a 200. */
  handle(call: Call<Body, A>): unknown;
}

export type Route = Definition<unknown, Access>;

/** Lets the types of body and token flow into the handler. */
export function route<Body, A extends Access>(definition: Definition<Body, A>): Route {
  return definition as unknown as Route;
}
