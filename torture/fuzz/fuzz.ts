// Sends planned requests to one server, or the same requests to several, and checks each response against the
// description.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { CheckAnswer } from '../../testing/description.ts';
import type { Answer } from '../../testing/request.ts';
import { Tally } from '../tally.ts';
import { createGiven, noteGiven, type PlannedRequest, targetOf, toBytes } from './planned-request.ts';
import { createWire } from './wire.ts';

/** Error numbers that a valid request can get. */
const NOT_THE_FORM = [40009, 40401, 40900, 41000, 41200, 42901];
/** Pages and endpoints that the description does not cover. */
const UNDESCRIBED = /^\/(docs|mcp|assets\/[^/]*)?([?#].*)?$/s;
/** Responses that depend on the server and the time. */
const OF_THE_MOMENT = /^\/(metrics|status|webhooks|plants\/summary)/;
/** A link to the next page of a list in the order of its changes. */
const SORTED_BY_TIME = /[?&]sort=-?updated&/;
const SHOWN_CHARS = 600;

export interface FuzzOptions {
  servers: { port: number; secret: string }[];
  check: CheckAnswer;
  requests: Iterable<PlannedRequest>;
  connections: number;
}

/** Returns the number of responses by status. */
export async function fuzz({ servers, check, requests, connections }: FuzzOptions): Promise<Tally<number>> {
  const statuses = new Tally<number>();
  const given = servers.map(({ secret }) => createGiven(secret));
  const left = requests[Symbol.iterator]();
  await Promise.all(Array.from({ length: connections }, work));
  return statuses;

  async function work(): Promise<void> {
    const wires = servers.map(({ port }) => createWire(port));
    for (let next = left.next(); !next.done; next = left.next()) {
      const request = next.value;
      const sent = given.map((one) => toBytes(request, one));
      const targets = given.map((one) => targetOf(request, one));
      try {
        const answers = await Promise.all(
          wires.map((wire, at) => wire.ask(sent[at] as Uint8Array, request.method === 'HEAD')),
        );
        for (const [at, answer] of answers.entries()) {
          statuses.add(answer.status);
          noteGiven(given[at] as (typeof given)[number], answer);
          judge(request, targets[at] as string, answer, check);
        }
        const [one, other] = answers;
        if (one && other && !OF_THE_MOMENT.test(targets[0] as string))
          assert.deepEqual(comparable(other), comparable(one));
      } catch (error) {
        const shown = Buffer.from(sent[0] as Uint8Array)
          .toString('latin1')
          .replace(/pst_\w+/, '…')
          .slice(0, SHOWN_CHARS);
        assert.fail(`${(error as Error).message}\nin response to ${JSON.stringify(shown)}`);
      }
    }
    for (const wire of wires) wire.close();
  }
}

export function* sample<T>(arbitrary: fc.Arbitrary<T>, count: number, seed: number): Generator<T> {
  const atOnce = 2000;
  for (let at = 0; at < count; at += atOnce) {
    yield* fc.sample(arbitrary, { numRuns: Math.min(atOnce, count - at), seed: seed + at });
  }
}

export function judge(request: PlannedRequest, target: string, answer: Answer, check: CheckAnswer): void {
  const { status, headers, body } = answer;
  assert.ok(status < 500, `a ${status}: ${body}`);
  if (!UNDESCRIBED.test(target)) check(request.method, target, answer);
  if (status < 400) {
    if (target.startsWith('/plants/import') && request.method === 'POST') requireSum(request, body);
    return;
  }
  assert.equal(headers['cache-control'], 'no-store');
  if (!request.isValid) return;
  const { error } = JSON.parse(body);
  assert.ok(NOT_THE_FORM.includes(error), `rejected a request that the description allows: ${body}`);
}

/**
 * Checks that an import counts each non-empty line once. With quotation marks in CSV, only the upper bound is known.
 */
function requireSum({ headers, body = '' }: PlannedRequest, report: string): void {
  const { created, replayed, failed, errors } = JSON.parse(report);
  const text = Buffer.from(body).toString('latin1');
  const [, type = ''] = headers.find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const isCsv = type.startsWith('text/csv') || (type.startsWith('text/plain') && !/^[\s\xef\xbb\xbf]*\{/.test(text));
  const lines = text.split('\n').slice(isCsv ? 1 : 0);
  const most = lines.filter((line) => !/^\r?$/.test(line)).length;
  const least = isCsv && text.includes('"') ? 0 : lines.filter((line) => /[!-~]/.test(line)).length;
  const sum = created + replayed + failed;
  assert.ok(sum >= least && sum <= most, `the counts of an import do not add up: ${report}, ${least} to ${most} lines`);
  assert.equal(errors.length, Math.min(failed, 1000), `the counts of an import do not add up: ${report}`);
}

/** Returns the response without times, random values, and headers that depend on how fast an unread body arrived. */
function comparable({ status, headers, body }: Answer): unknown {
  const {
    date: _,
    'x-request-id': __,
    'keep-alive': ___,
    'content-length': ____,
    connection: _____,
    ...others
  } = headers;
  const plain = JSON.stringify({ others, body })
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, 'TIME')
    .replaceAll('\\"lastUsed\\":\\"TIME\\",', '')
    .replace(/(tok|whk|pst|whsec)_[\w+/=]+/g, '$1_');
  const hasTimes = SORTED_BY_TIME.test(plain); // in the cursors
  return { status, plain: hasTimes ? plain.replace(/cursor=[\w-]+/g, 'cursor=') : plain };
}
