// Renders docs/reference/limits.md. Every number comes from the constant that the service uses.

import { REFRESH_MS, TIMEOUT_MS } from '../../src/auth/jwks-client.ts';
import { LEEWAY_S } from '../../src/auth/jwt-verifier.ts';
import { ECHO_MS } from '../../src/cli/interrupt.ts';
import { STOP_WITHIN_MS } from '../../src/cli/serve.ts';
import { MAX_LOG_CHARS, MAX_LOGGED_ATTEMPTS } from '../../src/domain/attempt-log.ts';
import { ERROR_NUMBERS, type ErrorCode } from '../../src/domain/errors.ts';
import { MAX_COUNTED, MAX_SORTED, MAX_WANTED_TAGS } from '../../src/domain/list-order.ts';
import { MAX_KEY_CHARS, MAX_QUERY_CHARS, MAX_QUERY_WORDS } from '../../src/domain/name-search.ts';
import { DEFAULT_GRACE } from '../../src/domain/names.ts';
import { DEFAULT_LIMIT, MAX_LIMIT, PAGE_BYTES } from '../../src/domain/page-size.ts';
import { MAX_ID, MIN_ID } from '../../src/domain/plant.ts';
import { MAX_NAME_CHARS } from '../../src/domain/token.ts';
import { MAX_URL_CHARS, OLD_SECRET_MS } from '../../src/domain/webhook.ts';
import { MAX_RECORD_BYTES } from '../../src/files/csv-record-end.ts';
import { MAX_CROWDED_CHARS, MAX_TEXT_BYTES, MAX_VALUES } from '../../src/files/plant-block.ts';
import { shareOf } from '../../src/http/access/fair-share.ts';
import { DELAY_MS, WRONG } from '../../src/http/access/rate-limit.ts';
import { MAX_UNREAD_BYTES } from '../../src/http/access/unread-responses.ts';
import { MAX_CONNECTIONS, MAX_OF_ONE_ADDRESS } from '../../src/http/core/connection-limits.ts';
import { MAX_BODY_BYTES } from '../../src/http/core/json-body.ts';
import { MAX_HEADER_BYTES } from '../../src/http/core/raw-refusal.ts';
import { MAX_IN_PROGRESS, MAX_QUEUED } from '../../src/http/core/request-order.ts';
import { EXPORT_BYTES_PER_S, EXPORT_GRACE_BYTES, UNREAD_BYTES } from '../../src/http/core/slow-clients.ts';
import { BYTES_PER_S, GRACE_BYTES } from '../../src/http/core/streamed-body.ts';
import { TIMEOUTS } from '../../src/http/core/timeouts.ts';
import { MAX_ERRORS_NAMED, MAX_EXPORTS, MAX_IMPORTS } from '../../src/http/routes/import-export.ts';
import { MAX_TESTS } from '../../src/http/routes/webhooks.ts';
import { parseDuration } from '../../src/lib/duration.ts';
import { MAX_NESTING } from '../../src/lib/exact-json.ts';
import { MAX_COUNT } from '../../src/lib/token-bucket.ts';
import { SCANNED_AT_ONCE } from '../../src/storage/change-page.ts';
import { MAX_QUEUED_CHARS, MAX_QUEUED_WRITES } from '../../src/storage/queue-room.ts';
import { MAX_QUEUED_SEARCHES } from '../../src/storage/search-turns.ts';
import { MAX_WAL_BYTES } from '../../src/storage/sqlite/wal-checkpoint.ts';
import { KEPT_DELIVERED } from '../../src/storage/write-limits.ts';
import { LEASE_TIMING, MAX_OPEN, MIN_OPEN } from '../../src/webhooks/delivery-loop.ts';
import {
  KEPT_RESPONSE_BYTES,
  MAX_RESPONSE_BYTES,
  MAX_RETRY_AFTER_MS,
  REST_TIMEOUT_MS,
  STATUS_TIMEOUT_MS,
} from '../../src/webhooks/receiver-client.ts';
import { DISABLED_AFTER_MS, MAX_HOLD_MS, MAX_WINDOW } from '../../src/webhooks/receiver-health.ts';
import { MAX_IN_FLIGHT, MAX_SHARED } from '../../src/webhooks/webhook-delivery.ts';
import { JITTER, RETRY_AFTER_MS } from '../../src/webhooks/webhook-queue.ts';
import { toPage, toTable } from './markdown.ts';

const INTRODUCTION = `Plant Store limits every resource that a client can use. All limits apply per node, also with PostgreSQL: three nodes
accept three times as many connections. The values are fixed, except for the rates of tokens.`;

type Limit = [limit: string, value: string, exceeded: string];

const REQUESTS: Limit[] = [
  ['Id of a plant', `${MIN_ID} to ${MAX_ID}`, respond('not_valid')],
  ['Request body, except imports', toBytes(MAX_BODY_BYTES), respond('body_too_large')],
  ['Request headers', toBytes(MAX_HEADER_BYTES), respond('headers_too_large')],
  ['Nesting of a JSON body', `${MAX_NESTING} levels`, respond('not_json')],
  [
    'Search query `q`',
    `${toCount(MAX_QUERY_CHARS)} characters and ${toCount(MAX_QUERY_WORDS)} words`,
    respond('bad_parameter'),
  ],
  ['Values of `tag` in a list', toCount(MAX_WANTED_TAGS), respond('bad_parameter')],
  [
    'Matches of a filter that can be sorted by anything but `id`',
    toCount(MAX_SORTED),
    `${respond('bad_parameter')} Narrow the filter.`,
  ],
  ['Characters of a name that are sorted', toCount(MAX_KEY_CHARS), 'Names with the same beginning are sorted by id.'],
  ['Matches of a filter that are counted', toCount(MAX_COUNTED), `\`Total-Count\` is \`>${MAX_COUNTED}\`.`],
  [
    'Changes that a page of the change log scans',
    toCount(SCANNED_AT_ONCE),
    'The page is short or empty. Its `Link` continues after them.',
  ],
  [
    'Records or changes in a page',
    `${toCount(DEFAULT_LIMIT)} by default, ${toCount(MAX_LIMIT)} at most`,
    `A larger \`limit\` counts as ${toCount(MAX_LIMIT)}.`,
  ],
  ['Text in a page', `about ${toBytes(PAGE_BYTES)}, as JSON`, 'The page is shorter than its `limit`.'],
  [
    'Pipelined creates, `PUT`s and `PATCH`es in progress per connection',
    toCount(MAX_IN_PROGRESS),
    'The next request waits. Any other request waits until all earlier ones have their responses.',
  ],
  [
    'Queued pipelined requests',
    `${toCount(MAX_QUEUED)}, of which one address (IPv6: /64 network) can use ${toCount(shareOf(MAX_QUEUED))}`,
    `${respond('unavailable')} It closes the connection.`,
  ],
  [
    'Unread responses of 4 KiB and more, and streams',
    `${toBytes(shareOf(MAX_UNREAD_BYTES))} per token, ${toBytes(MAX_UNREAD_BYTES)} in all`,
    `${respond('over_share')} For a write, or in all, it is 503, error ${ERROR_NUMBERS.unavailable}. A stream ends. Data that the operating system has accepted does not count.`,
  ],
  [
    'Unread responses without a token, with TLS',
    `${toBytes(shareOf(MAX_UNREAD_BYTES))} per address (IPv6: /64 network), ${toBytes(MAX_UNREAD_BYTES)} in all`,
    respond('unavailable'),
  ],
  [
    'Queued lists and counts with a filter, of one token in one thread',
    toCount(MAX_QUEUED_SEARCHES),
    respond('unavailable'),
  ],
  ['Queued writes', `${toCount(MAX_QUEUED_WRITES)}, or ${toBytes(MAX_QUEUED_CHARS)} of text`, respond('unavailable')],
];

const TRANSFERS: Limit[] = [
  ['Concurrent imports', toCount(MAX_IMPORTS), respond('unavailable')],
  ['Concurrent exports', toCount(MAX_EXPORTS), respond('unavailable')],
  [
    'Concurrent imports and exports per token',
    `${shareOf(MAX_IMPORTS)} imports and ${shareOf(MAX_EXPORTS)} exports`,
    respond('over_share'),
  ],
  ['Name or tag in an import', toBytes(MAX_TEXT_BYTES), `The line fails with error ${ERROR_NUMBERS.body_too_large}.`],
  ['Line of an import', toBytes(MAX_RECORD_BYTES), `The line fails with error ${ERROR_NUMBERS.body_too_large}.`],
  [
    `Values in a line of more than ${toCount(MAX_CROWDED_CHARS)} characters`,
    toCount(MAX_VALUES),
    `The line fails with error ${ERROR_NUMBERS.body_too_large}.`,
  ],
  [
    'Errors in the report of an import',
    toCount(MAX_ERRORS_NAMED),
    'The report counts further errors but does not list them.',
  ],
  [
    'Minimum rate of an import',
    `${toBytes(BYTES_PER_S)}/s on average after ${GRACE_BYTES / BYTES_PER_S} s`,
    `${respond('request_timeout')} Only time spent waiting for the client counts.`,
  ],
  [
    'Minimum rate of an export',
    `${toBytes(EXPORT_BYTES_PER_S)}/s on average after ${EXPORT_GRACE_BYTES / EXPORT_BYTES_PER_S} s`,
    'The server disconnects the client. Only time spent waiting for the client counts.',
  ],
  [
    'WAL of SQLite beside an export',
    `${toBytes(MAX_WAL_BYTES)}, or a quarter of a larger database`,
    'The server ends all exports in progress, because they keep the WAL from starting over. Export again.',
  ],
];

const CONNECTIONS: Limit[] = [
  [
    'Connections',
    toCount(MAX_CONNECTIONS),
    `${respond('unavailable')} With TLS, it closes the connection without a response.`,
  ],
  [
    'Connections per address (IPv6: per /64 network)',
    toCount(MAX_OF_ONE_ADDRESS),
    `${respond('unavailable')} Loopback and the proxies in \`TRUST_PROXY\` are exempt, and with a number in \`TRUST_PROXY\` every address is.`,
  ],
];

const TOKENS: Limit[] = [
  ['Name of a token or a webhook', `${MAX_NAME_CHARS} characters`, respond('not_valid')],
  [
    'Rate of a token',
    `as created, at most ${toCount(MAX_COUNT)} per second, minute or hour`,
    `${respond('over_rate')} Each request counts as one, including an import.`,
  ],
  [
    'Invalid tokens per address (IPv6: per /64 network)',
    `${WRONG.count}, then ${(WRONG.count * 1000) / WRONG.periodMs} per second`,
    `${respond('over_rate')} The response is delayed by ${toTime(DELAY_MS)}. Valid tokens are always accepted.`,
  ],
  ['Grace period of a rotated secret', `${toTime(parseDuration(DEFAULT_GRACE) ?? 0)} by default`, respond('bad_token')],
  ['Clock difference of a JWT', `${LEEWAY_S} s`, respond('bad_token')],
  ['Age of cached JWT keys', toTime(REFRESH_MS), 'The server reads the keys again.'],
];

const WEBHOOKS: Limit[] = [
  ['URL of a webhook', `${toCount(MAX_URL_CHARS)} characters`, respond('not_valid')],
  ['Concurrent requests to one receiver', toCount(MAX_WINDOW), 'Further deliveries are queued.'],
  [
    'Concurrent requests to all receivers',
    `${toCount(MAX_IN_FLIGHT)}, of which ${toCount(MAX_SHARED)} beyond the first of each webhook`,
    'Further deliveries are queued.',
  ],
  ['Concurrent test messages', toCount(MAX_TESTS), respond('unavailable')],
  [
    'Attempts per delivery',
    `${RETRY_AFTER_MS.length + 1}, with waits of ${RETRY_AFTER_MS.map(toTime).join(', ')} (each ± ${JITTER * 100} %)`,
    'The delivery is `dead`. `webhook retry` sends it again.',
  ],
  ['`Retry-After` of a receiver', toTime(MAX_RETRY_AFTER_MS), 'A longer time is reduced to this one.'],
  ['Backoff while a receiver is down', toTime(MAX_HOLD_MS), 'New changes are attempted at this interval.'],
  ['Time with failures only', toTime(DISABLED_AFTER_MS), 'The webhook is disabled.'],
  [
    'Unfinished deliveries per webhook',
    `${toCount(MAX_OPEN)}, down to ${toCount(MIN_OPEN)} with many webhooks`,
    'No new change is attempted until one of them is done.',
  ],
  ['Successful deliveries kept per webhook', toCount(KEPT_DELIVERED), 'Older ones are removed from the list.'],
  [
    'Attempts kept per delivery',
    `${MAX_LOGGED_ATTEMPTS}, and ${toBytes(MAX_LOG_CHARS)} with their responses`,
    'Older ones are removed.',
  ],
  [
    "Receiver's response",
    toBytes(MAX_RESPONSE_BYTES),
    `The rest is not read. The first ${toBytes(KEPT_RESPONSE_BYTES)} is stored.`,
  ],
  ['Use of the old secret after a rotation', toTime(OLD_SECRET_MS), 'Deliveries are signed with the new secret only.'],
];

const TIMES: Limit[] = [
  ['Request headers', toTime(TIMEOUTS.headersMs), respond('request_timeout')],
  ['Request body, and each KiB of an import', toTime(TIMEOUTS.bodyMs), respond('request_timeout')],
  ['TLS handshake', toTime(TIMEOUTS.handshakeMs), 'The server closes the connection.'],
  ['Idle connection', toTime(TIMEOUTS.keepAliveMs), 'The server closes the connection.'],
  [
    `Time to read ${toBytes(UNREAD_BYTES)} of a pending response or event stream`,
    toTime(TIMEOUTS.unreadMs),
    'The server disconnects the client.',
  ],
  [
    `Time to read ${toBytes(UNREAD_BYTES)} of a pending export`,
    toTime(TIMEOUTS.unreadExportMs),
    'The server disconnects the client. Behind a proxy with large buffers, 300 KB/s always suffices.',
  ],
  [
    'Request for the keys of an identity provider',
    toTime(TIMEOUT_MS),
    'A JWT with an unknown key is rejected with 401.',
  ],
  [
    "Status of a receiver's response",
    toTime(STATUS_TIMEOUT_MS),
    `The delivery fails. After the status, the rest has ${toTime(REST_TIMEOUT_MS)} and does not change the result.`,
  ],
  ['Lease of a webhook (PostgreSQL)', toTime(LEASE_TIMING.leaseMs), 'Another node continues the deliveries.'],
  [
    'Time to stop the server',
    toTime(STOP_WITHIN_MS),
    `The process kills itself. A second signal at least ${toTime(ECHO_MS)} later kills it immediately.`,
  ],
];

const GROUPS: Record<string, Limit[]> = {
  Requests: REQUESTS,
  Transfers: TRANSFERS,
  Connections: CONNECTIONS,
  'Tokens and rates': TOKENS,
  Webhooks: WEBHOOKS,
  Timeouts: TIMES,
};

export function renderLimits(): string {
  const sections = Object.entries(GROUPS).map(([heading, limits]) => {
    return `## ${heading}\n\n${toTable(['limit', 'value', 'when it is exceeded'], limits)}`;
  });
  return toPage('Limits', INTRODUCTION, sections);
}

/** Returns the sentence for a limit that the server reports with this error. */
function respond(code: ErrorCode): string {
  const number = ERROR_NUMBERS[code];
  return `The server returns ${Math.floor(number / 100)}, error ${number}.`;
}

function toCount(count: number): string {
  return count.toLocaleString('en');
}

function toBytes(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;
}

function toTime(ms: number): string {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 120_000) return `${ms / 1000} s`;
  if (ms < 3_600_000) return `${ms / 60_000} min`;
  return ms <= 24 * 3_600_000 ? `${ms / 3_600_000} h` : `${ms / 86_400_000} days`;
}
