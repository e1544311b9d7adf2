// Reads the OpenTelemetry variables that control traces. The OpenTelemetry packages read OTEL_SERVICE_NAME,
// OTEL_RESOURCE_ATTRIBUTES and OTEL_EXPORTER_OTLP_* themselves; this file only validates the latter.

import { readFileSync } from 'node:fs';
import { UsageError } from '../lib/user-error.ts';
import type { TracingOptions } from '../observability/tracing.ts';
import { listOf, readNumber, readOneOf, readUrl, refuse } from './parse-setting.ts';
import { SETTINGS, type SettingName } from './settings.ts';

const PROTOCOLS = ['http/protobuf', 'http/json'] as const satisfies TracingOptions['protocol'][];
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

type Environment = Record<string, string | undefined>;
/** Name of a setting that has a default. */
type WithDefault = {
  [Name in SettingName]: (typeof SETTINGS)[Name] extends { default: string } ? Name : never;
}[SettingName];

/** Returns the options of tracing, or undefined if traces are off. Then no other variable is validated. */
export function readTraces(env: Environment): TracingOptions | undefined {
  if ((env.OTEL_SDK_DISABLED ?? SETTINGS.OTEL_SDK_DISABLED.default).toLowerCase() === 'true') return undefined;
  const hasEndpoint = (env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? env.OTEL_EXPORTER_OTLP_ENDPOINT) !== undefined;
  const wanted = env.OTEL_TRACES_EXPORTER ?? (hasEndpoint ? 'otlp' : 'none');
  const exporter = readOneOf('OTEL_TRACES_EXPORTER', wanted, ['otlp', 'console', 'none']);
  if (exporter === 'none') return undefined;
  if (exporter === 'otlp') requireSoundExporter(env);
  const sampler = readOneOf('OTEL_TRACES_SAMPLER', settingOf('OTEL_TRACES_SAMPLER'), SAMPLERS);
  return {
    exporter,
    protocol: exporter === 'otlp' ? readProtocol(env) : PROTOCOLS[0],
    sampler,
    ratio: sampler.endsWith('traceidratio') ? readRatio(settingOf('OTEL_TRACES_SAMPLER_ARG')) : 1,
    takesParent: readPropagators(settingOf('OTEL_PROPAGATORS')).includes('tracecontext'),
    batch: {
      scheduledDelayMillis: numberOf('OTEL_BSP_SCHEDULE_DELAY', MAX_MS),
      exportTimeoutMillis: numberOf('OTEL_BSP_EXPORT_TIMEOUT', MAX_MS),
      maxQueueSize: numberOf('OTEL_BSP_MAX_QUEUE_SIZE', MAX_SPANS),
      maxExportBatchSize: numberOf('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', MAX_SPANS),
    },
  };

  function settingOf(name: WithDefault): string {
    return env[name] ?? SETTINGS[name].default;
  }

  function numberOf(name: WithDefault, max: number): number {
    return readNumber(name, settingOf(name), 1, max);
  }
}

/** Throws UsageError for values that the exporter, which reads these variables itself, would silently replace. */
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

function readProtocol(env: Environment): TracingOptions['protocol'] {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL;
  const name = own === undefined ? 'OTEL_EXPORTER_OTLP_PROTOCOL' : 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL';
  const text = own ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? SETTINGS.OTEL_EXPORTER_OTLP_PROTOCOL.default;
  if (text === 'grpc') {
    throw new UsageError(`${name}=grpc is not supported. Set it to http/protobuf, and the endpoint to port 4318.`);
  }
  return readOneOf(name, text, PROTOCOLS);
}

function readRatio(text: string): number {
  if (/^(0|1|[01]?\.\d{1,9})$/.test(text) && Number(text) <= 1) return Number(text);
  throw refuse('OTEL_TRACES_SAMPLER_ARG', text, 'a number from 0 to 1, such as 0.1');
}

function readPropagators(text: string): string[] {
  return listOf(text).map((name) => readOneOf('OTEL_PROPAGATORS', name, PROPAGATORS));
}
