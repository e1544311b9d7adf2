// Requests that two parsers could interpret differently, with another request hidden inside. The server must send one
// error response, close the connection, and change nothing.

import assert from 'node:assert/strict';
import { post } from '../../testing/request.ts';
import { query } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { ask, assertError } from '../http/answers.ts';
import { LENIENT_PARSER } from '../safeguards.ts';

const BODY = '{"id":900,"name":"x"}';
const LENGTH = `Content-Length: ${BODY.length}\r\n`;
const HIDDEN = `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Connection: close\r\nContent-Length: 21\r\n\r\n{"id":901,"name":"x"}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = `15\r\n${BODY}\r\n0\r\n\r\n`;

/** HOST, AUTH and TYPE stand for valid headers. */
const REQUESTS: Record<string, string> = {
  'Content-Length and Transfer-Encoding': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${LENGTH}${CHUNKED}\r\n0\r\n\r\n`,
  'Transfer-Encoding and Content-Length': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}${LENGTH}\r\n${CHUNKS}`,
  'two Content-Lengths': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${LENGTH}${LENGTH}\r\n${BODY}`,
  'two different Content-Lengths': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 0\r\n${LENGTH}\r\n${BODY}`,
  'a list of Content-Lengths': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 21, 21\r\n\r\n${BODY}`,
  'a Content-Length with a sign': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: +21\r\n\r\n${BODY}`,
  'a Content-Length below 0': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: -21\r\n\r\n${BODY}`,
  'a hexadecimal Content-Length': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 0x15\r\n\r\n${BODY}`,
  'a Content-Length over 2^64': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length: 18446744073709551637\r\n\r\n${BODY}`,
  'an empty Content-Length': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length:\r\n\r\n${BODY}`,
  'a Transfer-Encoding that does not end in chunked': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
  'an unknown Transfer-Encoding': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: xchunked\r\n\r\n${CHUNKS}`,
  'a Transfer-Encoding before chunked': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: gzip, chunked\r\n\r\n${CHUNKS}`,
  'an empty coding before chunked': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: , chunked\r\n\r\n${CHUNKS}`,
  'two Transfer-Encodings': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}Transfer-Encoding: identity\r\n\r\n${CHUNKS}`,
  'a Transfer-Encoding after a control character': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding: \x0bchunked\r\n\r\n${CHUNKS}`,
  'a folded header': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE X-A: b\r\n c\r\n${LENGTH}\r\n${BODY}`,
  'a folded Transfer-Encoding': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Transfer-Encoding:\r\n chunked\r\n\r\n${CHUNKS}`,
  'a bare LF after the request line': `POST /plants HTTP/1.1\nHOST AUTH TYPE ${LENGTH}\r\n${BODY}`,
  'a bare LF after a header': `POST /plants HTTP/1.1\r\nX-A: b\nHOST AUTH TYPE ${LENGTH}\r\n${BODY}`,
  'a bare LF after the headers': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${LENGTH}\n${BODY}`,
  'a bare CR in a header': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE X-A: b\rX-B: c\r\n${LENGTH}\r\n${BODY}`,
  'a space before the colon': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE Content-Length : 21\r\n\r\n${BODY}`,
  'a header without a colon': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE X-A\r\n${LENGTH}\r\n${BODY}`,
  'a header without a name': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE : b\r\n${LENGTH}\r\n${BODY}`,
  'U+0000 in a header': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE X-A: a\0b\r\n${LENGTH}\r\n${BODY}`,
  'two Hosts': `POST /plants HTTP/1.1\r\nHOST HOST AUTH TYPE ${LENGTH}\r\n${BODY}`,
  'no version': `POST /plants\r\nHOST AUTH TYPE ${LENGTH}\r\n${BODY}`,
  'no version, with keep-alive': `GET /plants/1\r\nAUTH Connection: keep-alive\r\n\r\n`,
  'no Host': `POST /plants HTTP/1.1\r\nAUTH TYPE ${LENGTH}\r\n${BODY}`,
  'two Authorizations': `POST /plants HTTP/1.1\r\nHOST AUTH AUTH TYPE ${LENGTH}\r\n${BODY}`,
  'two Content-Types': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE TYPE ${LENGTH}\r\n${BODY}`,
  'a chunk extension of 20,000 bytes': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n15;${'a'.repeat(20_000)}\r\n${BODY}\r\n0\r\n\r\n`,
  'a bare LF in a chunk extension': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n15;a\n${BODY}\r\n0\r\n\r\n`,
  'a bare LF after a chunk size': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n15\n${BODY}\r\n0\r\n\r\n`,
  'an invalid chunk size': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\nzz\r\n${BODY}\r\n0\r\n\r\n`,
  'a chunk size with 0x': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n0x15\r\n${BODY}\r\n0\r\n\r\n`,
  'a chunk size below 0': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n-15\r\n${BODY}\r\n0\r\n\r\n`,
  'a chunk size over 2^64': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n10000000000000015\r\n${BODY}\r\n0\r\n\r\n`,
  'a space before a chunk size': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n 15\r\n${BODY}\r\n0\r\n\r\n`,
  'a chunk longer than its size': `POST /plants HTTP/1.1\r\nHOST AUTH TYPE ${CHUNKED}\r\n14\r\n${BODY}\r\n0\r\n\r\n`,
};
const NAMES = Object.keys(REQUESTS);

fault({
  name: 'request smuggling',
  mark: 'The server returns 400, sends exactly one response, closes the connection, and stores nothing.',
  rounds: { short: NAMES.length, full: 2000, of: `requests of ${NAMES.length} kinds` },
  async trial({ rounds, random, startServer }) {
    const server = await startServer();
    for (let round = 0; round < rounds; round++) {
      const name = NAMES[round % NAMES.length] as string;
      const bytes = (REQUESTS[name] as string).replace('Content-', () =>
        random.pick(['Content-', 'content-', 'CONTENT-']),
      );
      const [answer, ...more] = await ask(server, bytes + HIDDEN).catch((error: Error) =>
        assert.fail(`${name}: ${error.message}`),
      );
      assert.deepEqual(
        [answer?.status, more.length],
        [400, 0],
        `${name}: ${answer?.body}, and ${more.length} more responses`,
      );
      if (answer) assertError(answer, 40_000);
      assert.equal(answer?.headers.get('connection'), 'close', name);
      assert.deepEqual(query(server.databasePath, 'SELECT id FROM plants'), [], name);
    }
    assert.equal((await post(server, BODY)).status, 200);
    assert.equal(await server.stop(), 0);
    return `${rounds.toLocaleString('en')} × 400 and close, 0 second responses, 0 stored`;
  },
  controls: {
    'uses a lenient HTTP parser': {
      changes: LENIENT_PARSER,
      caught: /more responses|was left open/,
    },
    'accepts duplicate headers': {
      change: [
        'src/http/core/header-checks.ts',
        `const ONCE = ['host', 'authorization', 'content-type']`,
        'const ONCE: string[] = []',
      ],
      caught: /two Hosts: /,
    },
  },
});
