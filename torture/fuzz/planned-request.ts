// A request before it is sent. Placeholders stand for ids that only the server's earlier responses provide.

import type { Answer } from '../../testing/request.ts';

export interface PlannedRequest {
  /** True if the description allows the request. */
  isValid: boolean;
  method: string;
  /**
   * Can contain `tok_@3` for the third known token, `whk_@3` for a webhook, and `@next` for the target of a Link
   * header.
   */
  target: string;
  headers: [name: string, value: string][];
  body?: string | Uint8Array | undefined;
  isChunked?: boolean | undefined;
}

/** Values that one server has returned so far. */
export interface Given {
  /** Replaces `@secret` in a header. */
  secret: string;
  tokens: string[];
  webhooks: string[];
  next: string;
}

const MAX_KEPT = 30;

export function createGiven(secret: string): Given {
  return { secret, tokens: [], webhooks: [], next: '/plants?limit=2' };
}

/** Records the ids of created objects only, so that no request deletes the token in use. */
export function noteGiven(given: Given, { status, headers, body }: Answer): void {
  const [, id, kind] = (status === 201 && /^\{"id":"((tok|whk)_\w+)"/.exec(body)) || [];
  const known = kind === 'tok' ? given.tokens : given.webhooks;
  if (id && known.unshift(id) > MAX_KEPT) known.pop();
  const next = /^<(\/plants\?[^>]*)>/.exec(String(headers.link))?.[1];
  if (next) given.next = next;
}

export function targetOf({ target }: PlannedRequest, { tokens, webhooks, next }: Given): string {
  if (target === '@next') return next;
  return target.replace(/(tok|whk)_@(\d+)/g, (_all, kind, at) => {
    const known = kind === 'tok' ? tokens : webhooks;
    return known[Number(at) % known.length] ?? `${kind}_none`;
  });
}

/** Returns the bytes to send. */
export function toBytes(request: PlannedRequest, given: Given): Uint8Array {
  const { method, headers, body, isChunked } = request;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const lines = headers.map(([name, value]) => `${name}: ${value.replace('@secret', given.secret)}\r\n`).join('');
  const framing = isChunked ? 'Transfer-Encoding: chunked\r\n' : `Content-Length: ${bytes?.length}\r\n`;
  const length = bytes === undefined ? '' : framing;
  const target = targetOf(request, given);
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: x\r\n${lines}${length}\r\n`, 'latin1');
  if (bytes === undefined) return head;
  return Buffer.concat(isChunked ? [head, ...chunksOf(bytes)] : [head, bytes]);
}

function chunksOf(bytes: Uint8Array): Uint8Array[] {
  const half = Math.ceil(bytes.length / 2);
  const chunks = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length }) => length > 0);
  const framed = chunks.flatMap((chunk) => [
    Buffer.from(`${chunk.length.toString(16)}\r\n`),
    chunk,
    Buffer.from('\r\n'),
  ]);
  return [...framed, Buffer.from('0\r\n\r\n')];
}
