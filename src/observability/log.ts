// Writes service events as log lines: JSON when piped, readable text on a terminal.

import { styleText } from 'node:util';
import { type DestinationStream, type Logger, type LoggerOptions, pino } from 'pino';
import { printDuration } from '../lib/duration.ts';
import { cutToWidth, toSafeJson, toSafeLines, toSafeText } from '../lib/safe-text.ts';
import type { SharedCount } from '../lib/shared-count.ts';
import { toSize } from '../lib/size.ts';
import type { Observe, ServiceEvent } from './service-events.ts';

/** Events that a terminal shows in the banner of the command. */
const IN_BANNER = new Set<ServiceEvent['kind']>(['listening', 'store_created']);
/** Colours of the status of a request, by its first digit. */
const STATUS_COLOURS: Record<string, 'green' | 'cyan' | 'yellow' | 'red'> = {
  2: 'green',
  3: 'cyan',
  4: 'yellow',
  5: 'red',
};
const DEFAULT_WIDTH = 80;
const MAX_UNWRITTEN_BYTES = 1024 * 1024;
/** The same limit for another thread, which counts characters. */
const MAX_UNWRITTEN_CHARS = 1024 * 1024;

/** Minimum level of the log lines that are written. */
export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug';

type Entry<E> = [
  level: 'debug' | 'info' | 'warn' | 'error' | 'fatal',
  toMessage: (event: E, command: string) => string,
];

type Entries = { [E in Exclude<ServiceEvent, { kind: 'response' | 'commit' | 'lines' }> as E['kind']]: Entry<E> };

const ENTRIES: Entries = {
  listening: ['info', ({ url }) => `Listening on ${url}`],
  threads_listening: ['debug', ({ threads }) => `All threads serve requests: ${threads}`],
  thread_not_started: [
    'error',
    ({ error }) => `A thread could not start, so fewer serve requests: ${error.message}. Restart the server.`,
  ],
  one_thread: ['info', ({ platform }) => `One thread serves requests: ${platform} cannot share a port between threads`],
  no_token: [
    'warn',
    ({ option }, command) =>
      `No token exists. Create one with: ${command} token create --name NAME --scopes all ${option}`,
  ],
  store_created: ['warn', ({ path }) => `Created a new, empty store at ${path}`],
  setting_ignored: ['warn', ({ reason }) => reason],
  no_tls: [
    'warn',
    ({ host }) =>
      `Tokens are sent to ${host} without encryption. Set TLS_CERT and TLS_KEY, or set TRUST_PROXY to a proxy with TLS.`,
  ],
  certificate_renewed: ['info', ({ validTo }) => `Loaded a new certificate, valid until ${validTo}`],
  certificate_unusable: [
    'error',
    ({ reason }) => `Cannot load the new certificate, so the old one remains in use: ${reason}`,
  ],
  refused: ['debug', ({ reason, why }) => `Request rejected: ${reason}${why ? ` (${why})` : ''}`],
  keys_failing: [
    'error',
    ({ reason }) => `Cannot fetch the keys of the identity provider. Known keys remain valid. Reason: ${reason}`,
  ],
  keys_recovered: ['info', () => 'The keys of the identity provider are available again'],
  traces_failing: [
    'warn',
    ({ reason }) => `Cannot send traces. Traces that exceed the queue are lost. Reason: ${reason}`,
  ],
  traces_recovered: ['info', () => 'Traces are sent again'],
  stopping: ['info', ({ reason }) => `Stopping (${reason}): completing requests in progress`],
  stopped: ['info', () => 'Stopped'],
  request: ['info', ({ method, path, status }) => `${method} ${path} ${status}`],
  delivery: ['debug', ({ webhookId, seq, result }) => `Webhook ${webhookId}: change ${seq} ${result}`],
  webhook_failing: ['warn', ({ webhookId, reason }) => `Webhook ${webhookId} is failing: ${reason}`],
  webhook_recovered: ['info', ({ webhookId }) => `Webhook ${webhookId} has recovered`],
  webhook_disabled: [
    'warn',
    ({ webhookId, reason }, command) =>
      `Webhook ${webhookId} is disabled: ${reason}. Fix the receiver, then run "${command} webhook enable ${webhookId}".`,
  ],
  response_aborted: ['warn', ({ reason }) => `A response was aborted after its first byte: ${reason}`],
  bug: ['error', () => 'Internal error (a bug). Report it with this log line.'],
  backups_scheduled: [
    'info',
    ({ dir, lastAgeMs, nextInMs }) =>
      `${nextInMs === 0 ? `A backup to ${dir} starts now` : `The next backup to ${dir} starts in ${printDuration(nextInMs)}`}. ${printAge(lastAgeMs)}`,
  ],
  backup_written: [
    'info',
    ({ file, bytes, durationMs }) =>
      `Backup written to ${file} (${toSize(bytes)}, ${(durationMs / 1000).toFixed(1)} s)`,
  ],
  backup_incident: ['warn', ({ reason }) => reason],
  backup_failed: [
    'error',
    ({ reason, lastAgeMs, nextInMs }) =>
      `Backup failed: ${withAdvice(reason)} Next attempt in ${printDuration(nextInMs)}. ${printAge(lastAgeMs)}`,
  ],
  writes_failing: ['error', ({ reason }) => `Writes are failing: ${reason}`],
  writes_recovered: ['info', () => 'Writes have recovered'],
  store_failed: [
    'fatal',
    ({ error }) => `The disk or a database file failed: ${error.message}. The process exits to prevent data loss.`,
  ],
  schema_unsupported: ['fatal', ({ error }) => `${error.message} The process exits.`],
};

/** Adds advice to a reason of one sentence, which has no full stop. Longer ones have their own advice. */
function withAdvice(reason: string): string {
  return reason.endsWith('.') ? reason : `${reason}. Check the folder and its free space.`;
}

function printAge(lastAgeMs: number | null): string {
  return lastAgeMs === null
    ? 'The folder has no good backup yet.'
    : `The last good backup is ${printDuration(lastAgeMs)} old.`;
}

/** Returns an observer that writes the service log. `command` is the command line of this installation, for advice. */
export function createLog(level: LogLevel, command: string): Observe {
  const isTerminal = process.stdout.isTTY;
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {}); // the terminal can close before the process ends
  const stream = isTerminal ? { write: printReadable } : jsonLines();
  const logger = createLogger(level, stream);

  return (event) => {
    if (isTerminal && IN_BANNER.has(event.kind)) return;
    if (event.kind === 'lines') return stream.write(event.text);
    if (isTerminal && event.kind === 'request' && logger.level !== 'silent') return printRequest(event);
    logEvent(logger, event, command);
  };
}

/**
 * Returns an observer that sends JSON lines to the thread that writes the service log, once per turn of the event loop.
 * Drops lines while too many are unwritten. The other thread must subtract the characters from `unwritten`.
 */
export function createLineLog(level: LogLevel, send: (lines: string) => void, unwritten: SharedCount): Observe {
  let lines = '';
  const logger = createLogger(level, {
    write(line) {
      if (unwritten.value + lines.length > MAX_UNWRITTEN_CHARS) return;
      if (lines === '') setImmediate(sendLines);
      lines += toSafeJson(line);
    },
  });
  return (event) => logEvent(logger, event, '');

  function sendLines(): void {
    unwritten.add(lines.length);
    send(lines);
    lines = '';
  }
}

function createLogger(level: LogLevel, stream: DestinationStream): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  return pino(options, stream);
}

function logEvent(logger: Logger, event: ServiceEvent, command: string): void {
  if (event.kind === 'response' || event.kind === 'commit') return; // for the metrics only
  const [level, toMessage] = ENTRIES[event.kind as keyof Entries] as Entry<ServiceEvent>;
  logger[level]('error' in event ? withError(event) : event, toMessage(event, command));
}

/**
 * Drops lines that cannot be written, without blocking. Lines are safe to show, because log files are read on
 * terminals.
 */
function jsonLines(): DestinationStream {
  const destination = pino
    .destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES, retryEAGAIN: () => false })
    .on('error', () => {});
  return { write: (line) => void destination.write(toSafeJson(line)) };
}

/** Prints a request as one short line, cut at the width of the terminal. */
function printRequest({ method, path, status, durationMs }: ServiceEvent & { kind: 'request' }): void {
  const stream = process.stdout;
  const start = `${clockTime(new Date())} `;
  const code = String(status);
  const middle = ` ${method.padEnd(6)} `;
  const duration = ` ${durationMs.toFixed(1)} ms`;
  const width = (stream.columns || DEFAULT_WIDTH) - (start + code + middle + duration).length;
  const dim = (text: string) => styleText('dim', text, { stream });
  const coloured = styleText(STATUS_COLOURS[code.charAt(0)] ?? 'dim', code, { stream });
  stream.write(`${dim(start)}${coloured}${middle}${cutToWidth(width, toSafeText(path))}${dim(duration)}\n`);
}

function clockTime(time: Date): string {
  return time.toTimeString().slice(0, 8);
}

function printReadable(line: string): void {
  const { time, level, msg, err } = JSON.parse(line);
  // The indent prevents a line of a message from looking like a log line.
  const details = err ? `\n${toSafeLines(String(err.stack ?? err)).replace(/^/gm, '  ')}` : '';
  process.stdout.write(`${clockTime(new Date(time))} ${level.toUpperCase().padEnd(5)} ${toSafeText(msg)}${details}\n`);
}

/** Renames `error` to `err`, under which pino prints the stack and the cause. */
function withError({ error, ...event }: ServiceEvent & { error: unknown }): object {
  return { ...event, err: error };
}
