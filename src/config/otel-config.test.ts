import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '../lib/user-error.ts';
import { readTraces } from './otel-config.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };

for (const env of [
  {},
  { OTEL_TRACES_EXPORTER: 'none', ...ENDPOINT },
  { OTEL_SDK_DISABLED: 'True', ...ENDPOINT },
  { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'ignored' },
]) {
  test(`readTraces() returns undefined for ${JSON.stringify(env)}`, () => assert.equal(readTraces(env), undefined));
}

test('readTraces() turns traces on with an endpoint and uses the defaults of OpenTelemetry', () => {
  const defaults = {
    exporter: 'otlp',
    protocol: 'http/protobuf',
    sampler: 'parentbased_always_on',
    ratio: 1,
    takesParent: true,
    batch: { scheduledDelayMillis: 5000, exportTimeoutMillis: 30000, maxQueueSize: 2048, maxExportBatchSize: 512 },
  };
  assert.deepEqual(readTraces(ENDPOINT), defaults);
  assert.deepEqual(readTraces({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://otel.example.com/v1/traces' }), defaults);
  assert.deepEqual(readTraces({ OTEL_TRACES_EXPORTER: 'otlp' }), defaults);
  assert.deepEqual(readTraces({ OTEL_SDK_DISABLED: 'false', ...ENDPOINT }), defaults);
});

test('readTraces() reads all variables, and variables for traces take precedence', () => {
  const traces = readTraces({
    ...ENDPOINT,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_PROPAGATORS: 'baggage',
    OTEL_BSP_MAX_QUEUE_SIZE: '10000',
  });
  assert.equal(traces?.protocol, 'http/json');
  assert.equal(traces.sampler, 'traceidratio');
  assert.equal(traces.ratio, 0.25);
  assert.equal(traces.takesParent, false);
  assert.equal(traces.batch.maxQueueSize, 10_000);
  assert.equal(readTraces({ OTEL_TRACES_EXPORTER: 'console' })?.exporter, 'console');
});

const REFUSED: [name: string, value: string][] = [
  ['OTEL_TRACES_EXPORTER', 'zipkin'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', '127.0.0.1:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://127.0.0.1'],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http'],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'garbage'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=abc,=x'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api key=abc'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=100%'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=a%0Ab'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'cookie=a;b'],
  ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'api-key='],
  ['OTEL_EXPORTER_OTLP_CERTIFICATE', '/nowhere/ca.pem'],
  ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', import.meta.dirname],
  ['OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', '/nowhere/client.pem'],
  ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
  ['OTEL_PROPAGATORS', 'tracecontext,b3'],
  ['OTEL_BSP_SCHEDULE_DELAY', '0'],
];

function assertRefused(name: string, env: Record<string, string>): void {
  const isRight = (error: unknown) => error instanceof UsageError && error.message.startsWith(name);
  assert.throws(() => readTraces({ ...ENDPOINT, ...env }), isRight);
}

for (const [name, value] of REFUSED) {
  test(`readTraces() rejects ${name}=${value} and names the variable`, () => assertRefused(name, { [name]: value }));
}

test('readTraces() validates the ratio only for a ratio sampler', () => {
  for (const value of ['10%', '1.5']) {
    for (const sampler of ['traceidratio', 'parentbased_traceidratio']) {
      const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: value };
      assertRefused('OTEL_TRACES_SAMPLER_ARG', env);
    }
    assert.equal(readTraces({ ...ENDPOINT, OTEL_TRACES_SAMPLER_ARG: value })?.ratio, 1);
  }
});

test('readTraces() accepts headers with percent-encoded values, and readable files', () => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: ' api-key=abc== , authorization=Basic%20eDp5,',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: '',
    OTEL_EXPORTER_OTLP_CERTIFICATE: import.meta.filename,
    OTEL_EXPORTER_OTLP_CLIENT_KEY: '',
  };
  assert.equal(readTraces({ ...ENDPOINT, ...env })?.exporter, 'otlp');
});
