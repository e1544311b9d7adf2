// Facts → log lines: JSON when piped, readable on a terminal.

import { type DestinationStream, pino } from 'pino';
import { toSafeJson, toSafeLines, toSafeText } from '../lib/safe-text.ts';
import type { Fact, Observe } from './service-events.ts';

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

  return (fact) => {
    switch (fact.kind) {
      case 'listening':
        if (isTerminal) return; // the banner says it
        return logger.info(fact, `Listening on ${fact.url}`);
      case 'no_token':
        return logger.warn(fact, `There is no token yet: make one with "${command} token create --name NAME"`);
      case 'no_tls':
        return logger.warn(
          fact,
          `Tokens can be read on their way to ${fact.host}: set TLS_CERT and TLS_KEY, or TRUST_PROXY to the proxy in front that has TLS`,
        );
      case 'certificate_renewed':
        return logger.info(fact, `The certificate was renewed: it is valid until ${fact.validTo}`);
      case 'certificate_unusable':
        return logger.error(fact, `The old certificate stays in use: ${fact.reason}`);
      case 'answer':
      case 'commit':
        return;
      case 'refused':
        return logger.debug(fact, `Not let in: ${fact.reason}${fact.why ? ` (${fact.why})` : ''}`);
      case 'keys_failing':
        return logger.error(
          fact,
          `The keys of the identity provider cannot be read, those that are known stay: ${fact.reason}`,
        );
      case 'keys_recovered':
        return logger.info(fact, 'The keys of the identity provider can be read again');
      case 'traces_failing':
        return logger.warn(
          fact,
          `Traces cannot be sent, those that do not fit into the queue are lost: ${fact.reason}`,
        );
      case 'traces_recovered':
        return logger.info(fact, 'Traces can be sent again');
      case 'stopping':
        return logger.info(fact, `Stopping (${fact.reason}): answering what is under way`);
      case 'stopped':
        return logger.info(fact, 'Stopped');
      case 'request':
        return logger.info(fact, `${fact.method} ${fact.path} ${fact.status}`);
      case 'delivery':
        return logger.debug(fact, `Webhook ${fact.webhookId}: change ${fact.seq} ${fact.result}`);
      case 'webhook_failing':
        return logger.warn(fact, `Webhook ${fact.webhookId} fails: ${fact.reason}`);
      case 'webhook_recovered':
        return logger.info(fact, `Webhook ${fact.webhookId} succeeds again`);
      case 'webhook_disabled':
        return logger.warn(fact, `Webhook ${fact.webhookId} is disabled: ${fact.reason}`);
      case 'bug':
        return logger.error(withError(fact), 'A bug');
      case 'writes_failing':
        return logger.error(fact, `Writes fail: ${fact.reason}`);
      case 'writes_recovered':
        return logger.info(fact, 'Writes succeed again');
      case 'store_failed':
        return logger.fatal(
          withError(fact),
          `The disk or a file of the database failed: ${fact.error.message}. Ending, so that nothing is lost`,
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
function withError({ error, ...fact }: Fact & { error: unknown }): object {
  return { ...fact, err: error };
}
