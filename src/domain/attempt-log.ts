// The log of a delivery's attempts. A store keeps it as lines of text, newest first, and adds a line without reading the
// others. The log has what the change does not: the request of each attempt can be derived from both.

import type { WebhookFormat } from './names.ts';

/** Maximum number of attempts that the API returns for a delivery. */
export const MAX_LOGGED_ATTEMPTS = 10;
/** Maximum length of a log in characters. It has room for 10 attempts with typical responses of 1 KiB. */
export const MAX_LOG_CHARS = 16 * 1024;

/** A request to a receiver. */
export interface SentRequest {
  /** Time in `webhook-timestamp`, in milliseconds since 1970. */
  timeMs: number;
  format: WebhookFormat;
  signature: string;
  userAgent: string;
}

/** A request to a receiver and its outcome. */
export interface Attempt extends SentRequest {
  durationMs: number;
  code?: number | undefined;
  answer?: string | undefined;
  error?: string | undefined;
}

/** Returns an attempt as a line of the log. */
export function printAttempt(attempt: Attempt): string {
  const { timeMs, format, signature, userAgent, durationMs, code, answer, error } = attempt;
  return `${JSON.stringify({ timeMs, format, signature, userAgent, durationMs, code, answer, error })}\n`;
}

/** Returns the newest attempts, newest first. Omits an attempt that the store cut off, and repeated ones. */
export function readAttempts(log: string): Attempt[] {
  const lines = log.split('\n').slice(0, -1); // the text after the last line end is empty or cut off
  return [...new Set(lines)].slice(0, MAX_LOGGED_ATTEMPTS).map((line) => JSON.parse(line));
}
