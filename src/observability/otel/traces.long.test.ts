// Tests the traces that a collector on loopback receives.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Collector, type Span, startCollector } from '../../../testing/collector.ts';
import { freePort } from '../../../testing/free-port.ts';
import { makeDatabase, needsPostgres } from '../../../testing/postgres.ts';
import { startReceiver } from '../../../testing/receiver.ts';
import { callerOf, send } from '../../../testing/request.ts';
import { startServer, tellLoaded } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { connectToEachThread } from '../../../testing/threads.ts';
import { until } from '../../../testing/until.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const UNSAMPLED = '1af7651916cd43dd8448eb211c80319d';

/** Returns settings with which the server sends no spans before it stops. */
function toCollector({ url }: Collector): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '60000',
  };
}

const TELL_LOADED = tellLoaded('@opentelemetry');

/** Sets the environment of this process, because OpenTelemetry reads some variables from there. */
async function startTraced(env: Record<string, string>, databaseUrl?: string): Promise<TestService> {
  Object.assign(process.env, env); // threads copy the variables, but not an object that replaces process.env
  try {
    return await startTestService({ env, ...(databaseUrl !== undefined && { databaseUrl }) });
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
}

suite('traces', () => {
  test('Each request has a span that contains its store calls, and the server sends all spans at the end', async () => {
    const collector = await startCollector();
    const receiver = await startReceiver();
    const server = await startTraced({
      ...toCollector(collector),
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      OTEL_SERVICE_NAME: 'greenhouse',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '1.0',
      BASE_PATH: '/store',
      WEBHOOK_ALLOW_PRIVATE: '1',
    });
    const { secret: admin } = await server.addToken({ scopes: ['admin', 'plants:read', 'plants:write'] });
    const call = callerOf(server, admin);
    const own = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json' };
    const fromParent = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: `vendor=${server.secret}` };
    const hook = JSON.parse((await call('POST', '/store/webhooks', { url: receiver.url })).body);
    const created = await send(server.port, {
      method: 'POST',
      path: '/store/plants',
      headers: { ...own, 'x-request-id': 'own-id-1', ...fromParent },
      body: '{"id":1,"name":"Needle in name","tag":"needle in tag"}',
    });
    assert.equal(created.status, 200);
    await receiver.count(1);
    await call('POST', '/store/plants', { id: 1, name: 'taken' });
    await call('GET', '/store/plants?q=needle+query&tag=needle');
    await call('GET', `/store/plants/${server.secret}`);
    await send(server.port, { path: '/nowhere/needle.html?needle' });
    await send(server.port, { path: '/store/healthz', method: 'PROPFIND' });
    await send(server.port, {
      path: '/store/plants/1',
      headers: { ...own, traceparent: `00-${UNSAMPLED}-${PARENT}-00` },
    });
    const lines = Array.from({ length: 50 }, (_, n) => `{"id":${100 + n},"name":"x"}\n`).join('');
    await send(server.port, {
      method: 'POST',
      path: '/store/plants/import',
      headers: { ...own, 'content-type': 'application/x-ndjson' },
      body: lines,
    });
    await call('GET', '/store/plants/export');
    await call('GET', '/store/plants/summary');
    await follow(server, '/store/events', own);
    await receiver.count(51);
    await sleep(50);
    assert.equal(collector.spans.length, 0, 'they are sent in the background');
    await server.stop();

    const { spans } = collector;
    const of = (name: string) => spans.filter((span) => span.name === name);
    const [create, taken] = of('POST /store/plants').toSorted((a, b) => a.startMs - b.startMs) as [Span, Span];
    assert.equal(create.traceId, TRACE);
    assert.equal(create.parentSpanId, PARENT);
    assert.equal(create.kind, 2);
    assert.deepEqual(create.attributes, {
      'http.request.method': 'POST',
      'http.route': '/store/plants',
      'url.path': '/store/plants',
      'url.scheme': 'http',
      'server.address': '127.0.0.1',
      'server.port': server.port,
      'plant_store.request.id': 'own-id-1',
      'http.response.status_code': 200,
    });
    assert.equal(create.resource['service.name'], 'greenhouse');
    assert.equal(create.resource['deployment.environment.name'], 'test');

    const stored = spans.find(({ parentSpanId }) => parentSpanId === create.spanId);
    assert.equal(stored?.name, 'store.create');
    assert.equal(stored.traceId, TRACE);
    assert.equal(stored.kind, 3);
    assert.deepEqual(stored.attributes, { 'db.system.name': 'sqlite', 'db.operation.name': 'create' });
    assert.ok(stored.startMs >= create.startMs && stored.endMs <= create.endMs + 1);

    assert.equal(taken.parentSpanId, undefined);
    assert.equal(taken.attributes['http.response.status_code'], 400);
    assert.equal(taken.status, 0, 'a client error does not mark the span as failed');
    const refused = spans.find(({ parentSpanId }) => parentSpanId === taken.spanId);
    assert.equal(refused?.attributes['error.type'], 'id_taken');

    const delivery = of('webhook.deliver').find(({ attributes }) => attributes['plant_store.change.seq'] === 1);
    assert.deepEqual(delivery?.attributes, {
      'http.request.method': 'POST',
      'http.response.status_code': 200,
      'plant_store.webhook.id': hook.id,
      'plant_store.webhook.attempt': 1,
      'plant_store.webhook.result': 'delivered',
      'plant_store.change.seq': 1,
    });
    assert.deepEqual(
      delivery.links.map(({ traceId, spanId }) => [traceId, spanId]),
      [[TRACE, stored.spanId]],
    );

    assert.deepEqual(childrenOf('GET /store/plants'), ['store.list']);
    assert.deepEqual(childrenOf('POST /store/plants/import'), ['store.import']);
    assert.equal(of('store.import')[0]?.attributes['db.operation.batch.size'], 50);
    assert.deepEqual(childrenOf('GET /store/plants/export'), ['store.export']);
    assert.deepEqual(childrenOf('GET /store/plants/summary'), ['store.summary']);
    assert.deepEqual(childrenOf('GET /store/events'), ['store.lastSeq']);
    const [stream] = of('GET /store/events');
    assert.ok(Number(stream?.endMs) - Number(stream?.startMs) >= 200, 'a stream lasts until it ends');
    assert.equal(of('GET /store/plants/{id}')[0]?.attributes['url.path'], '/store/plants/…');
    assert.equal(of('GET')[0]?.attributes['url.path'], '/nowhere/needle.html');
    assert.equal(of('HTTP')[0]?.attributes['http.request.method'], '_OTHER');
    assert.ok(spans.every(({ traceId }) => traceId !== UNSAMPLED));
    const all = collector.bodies.map(String).join('').replaceAll('/nowhere/needle.html', '');
    for (const hidden of [server.secret, admin, hook.secret, 'eedle', 'whsec_'])
      assert.ok(!all.includes(hidden), hidden);

    function childrenOf(name: string): string[] {
      const [{ spanId } = {}] = of(name);
      return spans.filter(({ parentSpanId }) => parentSpanId === spanId).map((child) => child.name);
    }
  });

  test('A delivery is linked to the request, in whichever thread it was', async () => {
    const collector = await startCollector();
    const receiver = await startReceiver((_request, response) => void setTimeout(() => response.end('ok'), 300));
    const server = await startTraced({ ...toCollector(collector), THREADS: '3', WEBHOOK_ALLOW_PRIVATE: '1' });
    const { secret } = await server.addToken({ scopes: ['admin', 'plants:read', 'plants:write'] });
    assert.equal((await callerOf(server, secret)('POST', '/webhooks', { url: receiver.url })).status, 201);
    const agents = await connectToEachThread(server.port, 3);
    for (const [id, agent] of agents.entries()) {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const body = JSON.stringify({ id, name: 'Aloe' });
      assert.equal((await send(server.port, { method: 'POST', path: '/plants', headers, body, agent })).status, 200);
      agent.destroy();
    }
    await until(() => server.events.filter(({ kind }) => kind === 'delivery').length === 3);
    await server.stop();
    const { spans } = collector;
    const created = spans.filter(({ name }) => name === 'store.create').map(({ spanId }) => spanId);
    const linked = spans.filter(({ name }) => name === 'webhook.deliver').flatMap(({ links }) => links);
    assert.equal(created.length, 3);
    assert.deepEqual(linked.map(({ spanId }) => spanId).sort(), created.sort());
  });

  test('Spans name PostgreSQL, and unsampled spans are not sent', needsPostgres, async () => {
    const databaseUrl = await makeDatabase();
    const [some, none] = await Promise.all([startCollector(), startCollector()]);
    const servers = [
      await startTraced({ ...toCollector(some), OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, databaseUrl),
      await startTraced({ ...toCollector(none), OTEL_TRACES_SAMPLER: 'always_off' }, databaseUrl),
    ];
    for (const server of servers) {
      const { status } = await callerOf(server, server.secret)('POST', '/plants', { id: 1, name: 'x' });
      assert.equal(status, 200);
    }
    await Promise.all(servers.map((server) => server.stop()));
    assert.deepEqual(some.types, ['application/x-protobuf']);
    for (const text of ['plant-store', 'POST /plants', 'store.create', 'postgresql']) {
      assert.ok(some.bodies[0]?.includes(text), text);
    }
    assert.deepEqual(none.bodies, []);
  });

  test('An unreachable collector is reported once, blocks nothing, and receives later spans', async () => {
    const port = await freePort();
    const server = await startServer({
      env: {
        ...TELL_LOADED,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_TIMEOUT: '100',
        OTEL_BSP_SCHEDULE_DELAY: '20',
      },
    });
    const call = callerOf(server, server.secret);
    for (let id = 1; id <= 10; id++) {
      assert.equal((await call('POST', '/plants', { id, name: 'x' })).status, 200);
      await sleep(30);
    }
    await until(() => server.output().includes('traces_failing'));
    await startCollector(port);
    await until(async () => {
      await call('GET', '/plants/1');
      return server.output().includes('traces_recovered');
    });
    assert.equal(server.output().match(/"kind":"traces_failing"/g)?.length, 1);
    assert.match(server.output(), /LOADED .*@opentelemetry/, 'needed by the last test');
    assert.equal(await server.stop(), 0);
  });

  test('The server stops although the collector hangs', async () => {
    const stopped = async () => {
      const collector = await startCollector();
      collector.hang();
      const server = await startTraced(toCollector(collector));
      assert.equal((await callerOf(server, server.secret)('GET', '/plants')).status, 200);
      await server.stop();
      return collector.spans.length;
    };
    await until(async () => (await stopped()) === 2); // repeats, because a busy machine may not send them in time
  });

  test('A process with the variables of a fleet starts, warns about each unsupported value, and sends traces', async () => {
    const collector = await startCollector();
    const server = await startServer({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_TRACES_EXPORTER: 'otlp,console,zipkin',
        OTEL_PROPAGATORS: 'tracecontext,baggage,b3',
        OTEL_TRACES_SAMPLER: 'jaeger_remote',
        OTEL_SDK_DISABLED: 'no',
      },
    });
    const headers = { authorization: `Bearer ${server.secret}`, traceparent: `00-${TRACE}-${PARENT}-01` };
    assert.equal((await send(server.port, { path: '/plants', headers })).status, 200);
    assert.equal(await server.stop(), 0);
    const lines = server.output().split('\n');
    const warnings = lines.filter((line) => line.includes('"kind":"setting_ignored"')).map((line) => JSON.parse(line));
    assert.deepEqual(
      warnings.map(({ level, msg }) => [level, /^\w+: "\w+"/.exec(msg)?.[0]]),
      [
        ['warn', 'OTEL_SDK_DISABLED: "no"'],
        ['warn', 'OTEL_TRACES_EXPORTER: "zipkin"'],
        ['warn', 'OTEL_TRACES_SAMPLER: "jaeger_remote"'],
        ['warn', 'OTEL_PROPAGATORS: "b3"'],
        ['warn', 'OTEL_EXPORTER_OTLP_PROTOCOL: "grpc"'],
      ],
    );
    assert.deepEqual(collector.types, ['application/x-protobuf']);
    assert.ok(collector.bodies[0]?.includes(Buffer.from(TRACE, 'hex')), 'the trace of the client continues');
    assert.match(server.output(), new RegExp(`traceId: '${TRACE}'`), 'the console exporter has printed it');
  });

  test('The console exporter prints the spans of each thread before a stop ends it', async () => {
    const server = await startServer({ env: { THREADS: '3', OTEL_TRACES_EXPORTER: 'console' } });
    const agents = await connectToEachThread(server.port, 3);
    const headers = { authorization: `Bearer ${server.secret}` };
    for (const agent of agents) {
      for (let n = 0; n < 20; n++) await send(server.port, { path: '/plants', headers, agent });
      agent.destroy();
    }
    assert.equal(await server.stop(), 0);
    assert.equal([...server.output().matchAll(/name: 'GET \/plants'/g)].length, 60);
  });

  test('No OpenTelemetry package is loaded while traces are off', async () => {
    const server = await startServer({ env: TELL_LOADED });
    assert.equal((await callerOf(server, server.secret)('POST', '/plants', { id: 1, name: 'x' })).status, 200);
    await server.stop();
    assert.doesNotMatch(server.output(), /LOADED/);
  });
});

/** Reads an event stream for 250 ms. */
async function follow({ port }: TestService, path: string, headers: Record<string, string>): Promise<void> {
  const stream = request({ port, path, headers: { ...headers, accept: 'text/event-stream' } });
  await new Promise((resolve) => stream.on('response', (response) => response.once('data', resolve)).end());
  await sleep(250);
  stream.destroy();
}
