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
    exporters: ['otlp'],
    protocol: 'http/protobuf',
    compression: 'none',
    timeoutMs: 10_000,
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
  assert.deepEqual(readTraces({ OTEL_TRACES_EXPORTER: 'console' })?.exporters, ['console']);
  assert.deepEqual(readTraces({ OTEL_TRACES_EXPORTER: ' otlp, Console,otlp' })?.exporters, ['otlp', 'console']);
});

const REFUSED: [name: string, value: string][] = [
  ['OTEL_EXPORTER_OTLP_ENDPOINT', '127.0.0.1:4318'],
  ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'grpc://127.0.0.1'],
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
];

function assertRefused(name: string, env: Record<string, string>): void {
  const isRight = (error: unknown) => error instanceof UsageError && error.message.startsWith(name);
  assert.throws(() => readTraces({ ...ENDPOINT, ...env }), isRight);
}

for (const [name, value] of REFUSED) {
  test(`readTraces() rejects ${name}=${value} and names the variable`, () => assertRefused(name, { [name]: value }));
}

type Ignored = [name: string, value: string, field: string, used: unknown, warning: RegExp];
const EXPORTER_VALUES =
  /^OTEL_TRACES_EXPORTER: "zipkin" is not supported and is ignored. Supported values: otlp, console, none.$/;
const ONE_TO_600000 = /is ignored\. It must be an integer from 1 to 600000\.$/;
const IGNORED: Ignored[] = [
  ['OTEL_SDK_DISABLED', '1', 'exporters', ['otlp'], /^OTEL_SDK_DISABLED: "1" .*Only "true" has an effect\.$/],
  ['OTEL_TRACES_EXPORTER', 'zipkin', 'exporters', ['otlp'], EXPORTER_VALUES],
  ['OTEL_TRACES_EXPORTER', 'zipkin,console', 'exporters', ['console'], EXPORTER_VALUES],
  ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc', 'protocol', 'http/protobuf', /"grpc" .*over HTTP.* port 4318/],
  ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'http', 'protocol', 'http/protobuf', /values: http\/protobuf, http\/json\.$/],
  ['OTEL_EXPORTER_OTLP_TIMEOUT', '10s', 'timeoutMs', 10_000, ONE_TO_600000],
  ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', '600001', 'timeoutMs', 10_000, ONE_TO_600000],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'zstd', 'compression', 'none', /^OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" /],
  [
    'OTEL_TRACES_SAMPLER',
    'jaeger_remote',
    'sampler',
    'parentbased_always_on',
    /^OTEL_TRACES_SAMPLER: "jaeger_remote" /,
  ],
  ['OTEL_TRACES_SAMPLER', 'xray', 'ratio', 1, /^OTEL_TRACES_SAMPLER: "xray" /],
  ['OTEL_PROPAGATORS', 'tracecontext,baggage,b3', 'takesParent', true, /^OTEL_PROPAGATORS: "b3" /],
  ['OTEL_PROPAGATORS', 'baggage,jaeger', 'takesParent', false, /^OTEL_PROPAGATORS: "jaeger" /],
  ['OTEL_PROPAGATORS', 'b3multi', 'takesParent', true, /^OTEL_PROPAGATORS: "b3multi" /],
];

for (const [name, value, field, used, warning] of IGNORED) {
  test(`readTraces() ignores ${name}=${value} with one warning`, () => {
    const warnings: string[] = [];
    const traces = readTraces({ ...ENDPOINT, [name]: value }, (message) => warnings.push(message));
    assert.ok(traces);
    assert.deepEqual(new Map<string, unknown>(Object.entries(traces)).get(field), used);
    assert.equal(warnings.length, 1, warnings.join());
    assert.match(String(warnings[0]), warning);
  });
}

test('readTraces() warns about each unsupported value of a list', () => {
  const warnings: string[] = [];
  const env = { ...ENDPOINT, OTEL_PROPAGATORS: 'b3,tracecontext,xray', OTEL_BSP_SCHEDULE_DELAY: '0' };
  assert.equal(readTraces(env, (message) => warnings.push(message))?.batch.scheduledDelayMillis, 5000);
  assert.deepEqual(
    warnings.map((message) => /^\w+: "\w+"/.exec(message)?.[0]),
    ['OTEL_PROPAGATORS: "b3"', 'OTEL_PROPAGATORS: "xray"', 'OTEL_BSP_SCHEDULE_DELAY: "0"'],
  );
});

test('readTraces() uses the general variable if the one for traces is unsupported', () => {
  const env = { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_PROTOCOL: 'HTTP/JSON' };
  assert.equal(readTraces({ ...ENDPOINT, ...env })?.protocol, 'http/json');
});

test('readTraces() is off and warns if an unsupported exporter is the only reason for traces', () => {
  const warnings: string[] = [];
  const traces = readTraces({ OTEL_TRACES_EXPORTER: 'zipkin' }, (message) => warnings.push(message));
  assert.equal(traces, undefined);
  assert.match(warnings.join(), EXPORTER_VALUES);
});

test('readTraces() reads the ratio only for a ratio sampler, and ignores an invalid one', () => {
  for (const value of ['10%', '1.5', '-0.1']) {
    for (const sampler of ['traceidratio', 'parentbased_traceidratio', 'always_on']) {
      const warnings: string[] = [];
      const env = { ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: value };
      assert.equal(readTraces(env, (message) => warnings.push(message))?.ratio, 1);
      assert.equal(warnings.length, sampler === 'always_on' ? 0 : 1);
    }
  }
});

test('readTraces() accepts headers with percent-encoded values, and readable files', () => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: ' api-key=abc== , authorization=Basic%20eDp5,',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: '',
    OTEL_EXPORTER_OTLP_CERTIFICATE: import.meta.filename,
    OTEL_EXPORTER_OTLP_CLIENT_KEY: '',
  };
  assert.deepEqual(readTraces({ ...ENDPOINT, ...env })?.exporters, ['otlp']);
});
