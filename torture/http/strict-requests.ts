// Counts the requests that a strict reader of RFC 9112 sees in a sequence of bytes. A malformed request counts as one
// and is the last: a server may reject it, and must not read further.

/** A server may accept several spaces instead of one (§3). */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~\w-]+ +[\x21-\x7e\x80-\xff]+ +HTTP\/1\.[01]$/;
const HEADER =
  /^([!#$%&'*+.^_`|~\w-]+):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*$/;
const CHUNK_SIZE = /^([0-9a-f]{1,15})(?:[ \t]*;[\t\x20-\x7e\x80-\xff]*)?$/i;

export function countRequests(bytes: Buffer): number {
  const text = bytes.toString('latin1');
  let count = 0;
  let at = 0;
  for (;;) {
    while (text[at] === '\r' || text[at] === '\n') at++; // a server may skip empty lines before a request
    if (at >= text.length) return count;
    count++;
    const end = endOfRequest(text, at);
    if (end === undefined) return count;
    at = end;
  }
}

/** Returns the end of the request, or undefined if it is malformed, incomplete or the last one. */
function endOfRequest(text: string, start: number): number | undefined {
  const endOfHead = text.indexOf('\r\n\r\n', start);
  if (endOfHead === -1) return undefined;
  const [first = '', ...lines] = text.slice(start, endOfHead).split('\r\n');
  if (!REQUEST_LINE.test(first)) return undefined;
  const headers = new Map<string, string[]>();
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    const key = name.toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), value]);
  }
  if (headers.get('connection')?.some((value) => /(^|,)[ \t]*close[ \t]*(,|$)/i.test(value))) return undefined;
  const lengths = headers.get('content-length') ?? [];
  const codings = headers.get('transfer-encoding') ?? [];
  if (lengths.length + codings.length > 1) return undefined;
  const bodyStart = endOfHead + 4;
  const [coding] = codings;
  if (coding !== undefined) return coding.toLowerCase() === 'chunked' ? endOfChunks(text, bodyStart) : undefined;
  const [length = '0'] = lengths;
  if (!/^\d{1,15}$/.test(length)) return undefined;
  const end = bodyStart + Number(length);
  return end <= text.length ? end : undefined;
}

function endOfChunks(text: string, start: number): number | undefined {
  for (let at = start; ; ) {
    const endOfLine = text.indexOf('\r\n', at);
    const size = endOfLine === -1 ? undefined : CHUNK_SIZE.exec(text.slice(at, endOfLine))?.[1];
    if (size === undefined) return undefined;
    at = endOfLine + 2 + Number.parseInt(size, 16);
    if (Number.parseInt(size, 16) === 0) return endOfTrailers(text, at);
    if (!text.startsWith('\r\n', at)) return undefined;
    at += 2;
  }
}

function endOfTrailers(text: string, start: number): number | undefined {
  for (let at = start; ; ) {
    const end = text.indexOf('\r\n', at);
    if (end === at) return end + 2;
    if (end === -1 || !HEADER.test(text.slice(at, end))) return undefined;
    at = end + 2;
  }
}
