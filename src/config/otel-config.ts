// Reads the OpenTelemetry variables that control traces. The OpenTelemetry packages read OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES and the endpoint, headers and files of the exporter themselves; this file only validates those
// of the exporter.

import { readFileSync } from 'node:fs';
import { UsageError } from '../lib/user-error.ts';
import type { TracingOptions } from '../observability/tracing.ts';
import { createOtelReader, type Environment, type Warn } from './otel-values.ts';
import { listOf, readUrl } from './parse-setting.ts';
import { SETTINGS } from './settings.ts';

const EXPORTERS = ['otlp', 'console', 'none'] as const;
const PROTOCOLS = ['http/protobuf', 'http/json'] as const satisfies TracingOptions['protocol'][];
const COMPRESSIONS = ['gzip', 'none'] as const satisfies TracingOptions['compression'][];
const ROOT_SAMPLERS = ['always_on', 'always_off', 'traceidratio'] as const;
const SAMPLERS = [...ROOT_SAMPLERS, ...ROOT_SAMPLERS.map((name) => `parentbased_${name}` as const)];
/** Accepted propagators. `baggage` has no effect, because the service propagates nothing in its own requests. */
const PROPAGATORS = ['tracecontext', 'baggage', 'none'] as const;
const FILES = ['CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'];
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]+$/;
const ENDPOINT = 'a URL such as http://127.0.0.1:4318';
const MAX_MS = 600_000;
const MAX_SPANS = 1_000_000;

/**
 * Returns the options of tracing, or undefined if traces are off. Then no other variable is validated. Unsupported values
 * are ignored with a warning.
 */
export function readTraces(env: Environment, warn: Warn = () => {}): TracingOptions | undefined {
  const { readFlag, readOneOf, readList, readNumber, readRatio } = createOtelReader(env, warn);
  if (readFlag('OTEL_SDK_DISABLED')) return undefined;
  const hasEndpoint = (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  const listed = readList('OTEL_TRACES_EXPORTER', EXPORTERS) ?? (hasEndpoint ? ['otlp'] : []);
  const exporters = listed.filter((name) => name !== 'none');
  if (exporters.length === 0) return undefined;
  if (exporters.includes('otlp')) requireSoundExporter(env);
  const sampler = readOneOf(['OTEL_TRACES_SAMPLER'], SAMPLERS) ?? SETTINGS.OTEL_TRACES_SAMPLER.default;
  const propagators = readList('OTEL_PROPAGATORS', PROPAGATORS) ?? [SETTINGS.OTEL_PROPAGATORS.default];
  return {
    exporters,
    protocol: readOneOf(namesOf('PROTOCOL'), PROTOCOLS, adviseProtocol) ?? PROTOCOLS[0],
    compression: readOneOf(namesOf('COMPRESSION'), COMPRESSIONS) ?? SETTINGS.OTEL_EXPORTER_OTLP_COMPRESSION.default,
    timeoutMs: readNumber('OTEL_EXPORTER_OTLP_TIMEOUT', MAX_MS),
    sampler,
    ratio: sampler.endsWith('traceidratio') ? readRatio('OTEL_TRACES_SAMPLER_ARG') : 1,
    takesParent: propagators.includes('tracecontext'),
    batch: {
      scheduledDelayMillis: readNumber('OTEL_BSP_SCHEDULE_DELAY', MAX_MS),
      exportTimeoutMillis: readNumber('OTEL_BSP_EXPORT_TIMEOUT', MAX_MS),
      maxQueueSize: readNumber('OTEL_BSP_MAX_QUEUE_SIZE', MAX_SPANS),
      maxExportBatchSize: readNumber('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', MAX_SPANS),
    },
  };
}

/** Returns the names of an exporter variable. The one for traces takes precedence. */
function namesOf(name: 'PROTOCOL' | 'COMPRESSION'): string[] {
  return [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
}

function adviseProtocol(text: string): string | undefined {
  if (text.toLowerCase() !== 'grpc') return undefined;
  return 'Traces are sent over HTTP. Collectors receive them on port 4318, not on the gRPC port 4317.';
}

/** Throws UsageError for values that the exporter, which reads these variables itself, would silently replace. */
function requireSoundExporter(env: Environment): void {
  for (const prefix of ['OTEL_EXPORTER_OTLP', 'OTEL_EXPORTER_OTLP_TRACES']) {
    const { [`${prefix}_ENDPOINT`]: url } = env;
    if (url !== undefined) readUrl(`${prefix}_ENDPOINT`, url, ENDPOINT);
    requireHeaders(`${prefix}_HEADERS`, env[`${prefix}_HEADERS`] ?? '');
    for (const name of FILES) requireReadable(`${prefix}_${name}`, env[`${prefix}_${name}`]);
  }
}

/** Throws UsageError for invalid headers, without their values, which are usually secrets. */
function requireHeaders(name: string, text: string): void {
  if (listOf(text).every(isHeader)) return;
  throw new UsageError(`${name} must be headers with percent-encoded values, such as api-key=abc,other=a%20b`);
}

/** True for a valid header. A semicolon is invalid, because the exporter would drop the text after it. */
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
    throw new UsageError(`${name} must be a readable file: ${(error as Error).message}`);
  }
}
