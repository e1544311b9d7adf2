// Tests spans with a real store and the real SDK: which spans are errors, and which calls have no span.

import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { join } from 'node:path';
import { test } from 'node:test';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { makeFolder } from '../../../testing/server.ts';
import { openSqliteStore } from '../../storage/sqlite/store.ts';
import { ABORTED } from '../service-events.ts';
import type { TracedRequest } from '../tracing.ts';
import { createOrigins } from './delivery-spans.ts';
import { createRequestSpans, type Scope } from './request-spans.ts';
import { traceStore } from './store-spans.ts';

const SEEN: TracedRequest = {
  id: 'r1',
  method: 'GET',
  route: '/plants/{id}',
  path: '/plants/1',
  scheme: 'http',
  address: '127.0.0.1',
  port: 3000,
  headers: {},
};
const ERROR = 2;

const path = join(makeFolder(), 'plants.db');
const opened = await openSqliteStore({ path, role: 'server', observe: () => {}, onFailure: () => {} });

function start() {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  const scope: Scope = { tracer: provider.getTracer('test'), current: new AsyncLocalStorage() };
  const store = traceStore(opened, 'sqlite', scope, createOrigins().note);
  return { request: createRequestSpans(scope, true), store, spans: () => exporter.getFinishedSpans() };
}

test('A 5xx response is an error, and an aborted one has no status', () => {
  const { request, spans } = start();
  for (const status of [503, ABORTED, 404]) request(SEEN, () => {})(status);
  const seen = spans().map(({ status, attributes }) => [
    status.code === ERROR,
    attributes['error.type'],
    attributes['http.response.status_code'],
  ]);
  assert.deepEqual(seen, [
    [true, '503', 503],
    [false, 'aborted', undefined],
    [false, undefined, 404],
  ]);
});

test('Background work after the response or outside a request has no span', async () => {
  const { request, store, spans } = start();
  const { promise: later, resolve: resume } = Promise.withResolvers<void>();
  let background: Promise<unknown> | undefined;
  const end = request(SEEN, () => {
    background = later.then(() => store.get(1n));
  });
  end(200);
  resume();
  await assert.rejects(background as Promise<unknown>, /No plant/);
  await assert.rejects(store.get(1n), /No plant/);
  assert.deepEqual(
    spans().map(({ name }) => name),
    ['GET /plants/{id}'],
  );
});

test('Store errors are rethrown, and only server errors mark the span as failed', async () => {
  const { request, store, spans } = start();
  await assert.rejects(
    within(() => store.get(1n)),
    /No plant/,
  );
  await opened.close();
  await assert.rejects(within(() => store.create({ id: 1n, name: 'x' }, { tokenId: 't' })));
  const seen = spans()
    .filter(({ parentSpanContext }) => parentSpanContext)
    .map(({ name, status, attributes }) => [name, status.code === ERROR, attributes['error.type']]);
  assert.deepEqual(seen, [
    ['store.get', false, 'not_found'],
    ['store.create', true, 'unavailable'],
  ]);

  async function within(work: () => Promise<unknown>): Promise<unknown> {
    let asked: Promise<unknown> | undefined;
    const end = request(SEEN, () => {
      asked = work();
    });
    return asked?.finally(() => end(500));
  }
});
