// Sends requests whose heads have bytes removed, changed or inserted. Each response must be one that the description
// defines.

import assert from 'node:assert/strict';
import type { CheckAnswer } from '../../testing/description.ts';
import { createRandom } from '../random.ts';
import { createGiven, type PlannedRequest, toBytes } from './planned-request.ts';
import { askOnce } from './wire.ts';

const CONNECTIONS = 8;
const PIECES = ['', ...'\0\r\n :\t\xff%/1x\x7f', '\r\n', '\r\n\r\n', 'HTTP/1.1'];
/** Requests to skip: their responses are endless, or have no body that defines their length. */
const LEFT_OUT = /^HEAD|^CONNECT|event-stream/;

export async function sendHeads(
  server: { port: number; secret: string },
  check: CheckAnswer,
  requests: Iterable<PlannedRequest>,
  seed: number,
): Promise<void> {
  const random = createRandom(seed);
  const given = createGiven(server.secret);
  const left = requests[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      for (let next = left.next(); !next.done; next = left.next()) {
        const sent = Buffer.from(toBytes(next.value, given));
        const at = random.below(sent.indexOf('\r\n\r\n') + 4);
        const put = Buffer.from(random.pick(PIECES), 'latin1');
        const bytes = Buffer.concat([sent.subarray(0, at), put, sent.subarray(at + random.below(3))]);
        if (LEFT_OUT.test(bytes.toString('latin1'))) continue;
        for (const answer of await askOnce(server.port, bytes)) {
          const shown = `${answer.status} ${answer.body}\nin response to ${JSON.stringify(bytes.toString('latin1').slice(0, 600))}`;
          assert.ok(answer.status < 500, `a ${shown}`);
          if (answer.status >= 400) check('ANY', '/', answer);
        }
      }
    }),
  );
}
