// Tests of the queue of pipelined requests that all connections share.

import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { startTestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';

const CONNECTIONS = 24;
/** More requests than a connection can queue. */
const FLOOD = 1100;
const GUESS = `GET /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer wrong\r\n\r\n`;
const HONEST = 900;
const READ = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
const needsLinux =
  process.platform === 'linux' ? {} : { skip: 'SKIPPED: only Linux has more than one loopback address' };

test('one address cannot fill the queue of pipelined requests', needsLinux, async (t) => {
  const { port } = await startTestService();
  const guessers = Array.from({ length: CONNECTIONS }, () => open('127.0.0.2'));
  await until(() => guessers.every(({ socket }) => !socket.connecting));
  for (const { socket } of guessers) socket.write(GUESS.repeat(FLOOD));
  await until(() => guessers.every(({ received }) => received() !== '')); // wrong tokens are delayed, so the rest waits
  const other = open('127.0.0.1');
  other.socket.write(READ.repeat(HONEST));
  await until(() => other.socket.closed || count(other.received(), ' 200 OK') === HONEST);
  assert.equal(count(other.received(), ' 200 OK'), HONEST);

  function open(localAddress: string): { socket: Socket; received(): string } {
    const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => {});
    t.after(() => socket.destroy());
    let received = '';
    socket.setEncoding('latin1').on('data', (text) => {
      received += text;
    });
    return { socket, received: () => received };
  }
});

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}
