// The variables of OpenTelemetry that say if and how traces are sent. What only its packages need, they read themselves:
// OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, and OTEL_EXPORTER_OTLP_*, whose form is looked at here.

import { readFileSync } from 'node:fs';
import { UsageError } from '../lib/user-error.ts';
import type { TracingOptions } from '../observability/tracing.ts';
import { listOf, readNumber, readOneOf, readUrl, refuse } from './parse-setting.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const satisfies TracingOptions['protocol'][];
const ROOT_SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const SAMPLERS = [...ROOT_SAMPLERS, ...ROOT_SAMPLERS.map((name) => `parentbased_${name}` as const)];
/** Nothing is sent on with a request of ours, so there is nothing to do for baggage. */
const PROPAGATORS = ['tracecontext', 'baggage', 'none'] as const;
const FILES = ['CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'];
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;
const ENDPOINT = 'a URL such as http://127.0.0.1:4318';
const MAX_MS = 600_000;
const MAX_SPANS = 1_000_000;

type Environment = Record<string, string | undefined>;

/** Nothing while they are off: then no other variable is looked at. */
export function readTraces(env: Environment): TracingOptions | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  const hasEndpoint = (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  const wanted = env.OTEL_TRACES_EXPORTER ?? (hasEndpoint ? 'otlp' : 'none');
  const exporter = readOneOf('OTEL_TRACES_EXPORTER', wanted, ['otlp', 'console', 'none']);
  if (exporter === 'none') return undefined;
  if (exporter === 'otlp') requireSoundExporter(env);
  const sampler = readOneOf('OTEL_TRACES_SAMPLER', env.OTEL_TRACES_SAMPLER ?? 'parentbased_always_on', SAMPLERS);
  return {
    exporter,
    protocol: exporter === 'otlp' ? readProtocol(env) : 'http/protobuf',
    sampler,
    ratio: sampler.endsWith('traceidratio') ? readRatio(env.OTEL_TRACES_SAMPLER_ARG ?? '1') : 1,
    takesParent: readPropagators(env.OTEL_PROPAGATORS ?? 'tracecontext').includes('tracecontext'),
    batch: {
      scheduledDelayMillis: number('OTEL_BSP_SCHEDULE_DELAY', '5000', MAX_MS),
      exportTimeoutMillis: number('OTEL_BSP_EXPORT_TIMEOUT', '30000', MAX_MS),
      maxQueueSize: number('OTEL_BSP_MAX_QUEUE_SIZE', '2048', MAX_SPANS),
      maxExportBatchSize: number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '512', MAX_SPANS),
    },
  };

  function number(name: string, usual: string, max: number): number {
    return readNumber(name, env[name] ?? usual, 1, max);
  }
}

/** The exporter reads these itself, and would go on with something else where it cannot. */
function requireSoundExporter(env: Environment): void {
  for (const prefix of ['OTEL_EXPORTER_OTLP', 'OTEL_EXPORTER_OTLP_TRACES']) {
    const { [`${prefix}_ENDPOINT`]: url, [`${prefix}_TIMEOUT`]: time, [`${prefix}_COMPRESSION`]: compression } = env;
    if (url !== undefined) readUrl(`${prefix}_ENDPOINT`, url, ENDPOINT);
    if (time !== undefined) readNumber(`${prefix}_TIMEOUT`, time, 1, MAX_MS);
    if (compression !== undefined) readOneOf(`${prefix}_COMPRESSION`, compression, ['gzip', 'none']);
    requireHeaders(`${prefix}_HEADERS`, env[`${prefix}_HEADERS`] ?? '');
    for (const name of FILES) requireReadable(`${prefix}_${name}`, env[`${prefix}_${name}`]);
  }
}

/** Not echoed: these are most often secrets. */
function requireHeaders(name: string, text: string): void {
  if (listOf(text).every(isHeader)) return;
  throw new UsageError(`${name} must be headers such as api-key=abc,other=a%20b, their values percent-encoded`);
}

/** What follows a semicolon would be cut off. */
function isHeader(pair: string): boolean {
  const [, name = '', value = ''] = /^([^=;]+)=([^;]+)$/.exec(pair) ?? [];
  try {
    return HEADER_NAME.test(decodeURIComponent(name.trim())) && HEADER_VALUE.test(decodeURIComponent(value.trim()));
  } catch {
    return false;
  }
}

function requireReadable(name: string, path: string | undefined): void {
  try {
    if (path) readFileSync(path);
  } catch (error) {
    throw new UsageError(`${name} must be a file that can be read: ${(error as Error).message}`);
  }
}

function readProtocol(env: Environment): TracingOptions['protocol'] {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL;
  const name = own === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  const text = own ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf';
  if (text === 'grpc') {
    throw new UsageError(`${name}=grpc is not spoken here: set it to http/protobuf, and the endpoint to port 4318`);
  }
  return readOneOf(name, text, PROTOCOLS);
}

function readRatio(text: string): number {
  if (/^(0|1|[01]?\.\d{1,9})$/.test(text) && Number(text) <= 1) return Number(text);
  throw refuse('OTEL_TRACES_SAMPLER_ARG', text, 'a share of the traces from 0 to 1, such as 0.1');
}

function readPropagators(text: string): string[] {
  return listOf(text).map((name) => readOneOf('OTEL_PROPAGATORS', name, PROPAGATORS));
}
