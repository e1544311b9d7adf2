// Service events → log lines: JSON when piped, readable on a terminal.

import { type DestinationStream, pino } from 'pino';
import { toSafeJson, toSafeLines, toSafeText } from '../lib/safe-text.ts';
import type { Observe, ServiceEvent } from './service-events.ts';

const MAX_UNWRITTEN_BYTES = 1024 * 1024;

export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug';

type Entry<E> = [
  level: 'debug' | 'info' | 'warn' | 'error' | 'fatal',
  toMessage: (event: E, command: string) => string,
];

type Entries = { [E in Exclude<ServiceEvent, { kind: 'answer' | 'commit' }> as E['kind']]: Entry<E> };

const ENTRIES: Entries = {
  listening: ['info', ({ url }) => `Listening on ${url}`],
  no_token: ['warn', (_, command) => `There is no token yet: make one with "${command} token create --name NAME"`],
  no_tls: [
    'warn',
    ({ host }) =>
      `Tokens can be read on their way to ${host}: set TLS_CERT and TLS_KEY, or TRUST_PROXY to the proxy in front that has TLS`,
  ],
  certificate_renewed: ['info', ({ validTo }) => `The certificate was renewed: it is valid until ${validTo}`],
  certificate_unusable: ['error', ({ reason }) => `The old certificate stays in use: ${reason}`],
  refused: ['debug', ({ reason, why }) => `Not let in: ${reason}${why ? ` (${why})` : ''}`],
  keys_failing: [
    'error',
    ({ reason }) => `The keys of the identity provider cannot be read, those that are known stay: ${reason}`,
  ],
  keys_recovered: ['info', () => 'The keys of the identity provider can be read again'],
  traces_failing: [
    'warn',
    ({ reason }) => `Traces cannot be sent, those that do not fit into the queue are lost: ${reason}`,
  ],
  traces_recovered: ['info', () => 'Traces can be sent again'],
  stopping: ['info', ({ reason }) => `Stopping (${reason}): answering what is under way`],
  stopped: ['info', () => 'Stopped'],
  request: ['info', ({ method, path, status }) => `${method} ${path} ${status}`],
  delivery: ['debug', ({ webhookId, seq, result }) => `Webhook ${webhookId}: change ${seq} ${result}`],
  webhook_failing: ['warn', ({ webhookId, reason }) => `Webhook ${webhookId} fails: ${reason}`],
  webhook_recovered: ['info', ({ webhookId }) => `Webhook ${webhookId} succeeds again`],
  webhook_disabled: ['warn', ({ webhookId, reason }) => `Webhook ${webhookId} is disabled: ${reason}`],
  bug: ['error', () => 'A bug'],
  writes_failing: ['error', ({ reason }) => `Writes fail: ${reason}`],
  writes_recovered: ['info', () => 'Writes succeed again'],
  store_failed: [
    'fatal',
    ({ error }) => `The disk or a file of the database failed: ${error.message}. Ending, so that nothing is lost`,
  ],
};

/** `command` is how this installation calls the command line. */
export function createLog(level: LogLevel, command: string): Observe {
  const isTerminal = process.stdout.isTTY;
  process.stdout.on('error', () => {}); // the terminal may be closed before we are
  const stream = isTerminal ? { write: printReadable } : jsonLines();
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );

  return (event) => {
    if (event.kind === 'listening' && isTerminal) return; // the banner says it
    if (event.kind === 'answer' || event.kind === 'commit') return; // for the metrics only
    const [level, toMessage] = ENTRIES[event.kind] as Entry<ServiceEvent>;
    logger[level]('error' in event ? withError(event) : event, toMessage(event, command));
  };
}

/** Drops lines that cannot be written and stops nothing. Lines are safe to show: people read log files on terminals. */
function jsonLines(): DestinationStream {
  const destination = pino
    .destination({ dest: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES, retryEAGAIN: () => false })
    .on('error', () => {});
  return { write: (line) => void destination.write(toSafeJson(line)) };
}

function printReadable(line: string): void {
  const { time, level, msg, err } = JSON.parse(line);
  // Indented, so that no line of a message looks like one of the log.
  const details = err ? `\n${toSafeLines(String(err.stack ?? err)).replace(/^/gm, '  ')}` : '';
  process.stdout.write(
    `${new Date(time).toTimeString().slice(0, 8)} ${level.toUpperCase().padEnd(5)} ${toSafeText(msg)}${details}\n`,
  );
}

/** pino prints an Error with its stack and cause under this name. */
function withError({ error, ...event }: ServiceEvent & { error: unknown }): object {
  return { ...event, err: error };
}
