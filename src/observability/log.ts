// Service events → log lines: JSON when piped, readable on a terminal.

import { type DestinationStream, pino } from 'pino';
import { toSafeJson, toSafeLines, toSafeText } from '../lib/safe-text.ts';
import type { Observe, ServiceEvent } from './service-events.ts';

const MAX_UNWRITTEN_BYTES = 1024 * 1024;

export type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug';

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
    switch (event.kind) {
      case 'listening':
        if (isTerminal) return; // the banner says it
        return logger.info(event, `Listening on ${event.url}`);
      case 'no_token':
        return logger.warn(event, `There is no token yet: make one with "${command} token create --name NAME"`);
      case 'no_tls':
        return logger.warn(
          event,
          `Tokens can be read on their way to ${event.host}: set TLS_CERT and TLS_KEY, or TRUST_PROXY to the proxy in front that has TLS`,
        );
      case 'certificate_renewed':
        return logger.info(event, `The certificate was renewed: it is valid until ${event.validTo}`);
      case 'certificate_unusable':
        return logger.error(event, `The old certificate stays in use: ${event.reason}`);
      case 'answer':
      case 'commit':
        return;
      case 'refused':
        return logger.debug(event, `Not let in: ${event.reason}${event.why ? ` (${event.why})` : ''}`);
      case 'keys_failing':
        return logger.error(
          event,
          `The keys of the identity provider cannot be read, those that are known stay: ${event.reason}`,
        );
      case 'keys_recovered':
        return logger.info(event, 'The keys of the identity provider can be read again');
      case 'traces_failing':
        return logger.warn(
          event,
          `Traces cannot be sent, those that do not fit into the queue are lost: ${event.reason}`,
        );
      case 'traces_recovered':
        return logger.info(event, 'Traces can be sent again');
      case 'stopping':
        return logger.info(event, `Stopping (${event.reason}): answering what is under way`);
      case 'stopped':
        return logger.info(event, 'Stopped');
      case 'request':
        return logger.info(event, `${event.method} ${event.path} ${event.status}`);
      case 'delivery':
        return logger.debug(event, `Webhook ${event.webhookId}: change ${event.seq} ${event.result}`);
      case 'webhook_failing':
        return logger.warn(event, `Webhook ${event.webhookId} fails: ${event.reason}`);
      case 'webhook_recovered':
        return logger.info(event, `Webhook ${event.webhookId} succeeds again`);
      case 'webhook_disabled':
        return logger.warn(event, `Webhook ${event.webhookId} is disabled: ${event.reason}`);
      case 'bug':
        return logger.error(withError(event), 'A bug');
      case 'writes_failing':
        return logger.error(event, `Writes fail: ${event.reason}`);
      case 'writes_recovered':
        return logger.info(event, 'Writes succeed again');
      case 'store_failed':
        return logger.fatal(
          withError(event),
          `The disk or a file of the database failed: ${event.error.message}. Ending, so that nothing is lost`,
        );
    }
  };
}

/**
 * A log that cannot be written, on a full disk or because nobody reads it, drops lines and stops nothing. Lines are safe
 * to show on a terminal, where people look at log files, too.
 */
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
