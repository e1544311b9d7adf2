// A process that reads an export at a steady rate until it is killed. Its argument is JSON.

import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const { port, secret, id, bytesPerSecond } = JSON.parse(process.argv[2] as string);
const startMs = performance.now();
let readBytes = 0;
const socket = connect({
  host: '127.0.0.1',
  port,
  onread: { buffer: Buffer.alloc(1024), callback: takeSome }, // Node's default reads 64 KiB at once, with long pauses
});
socket.on('error', () => {});
const headers = `Host: x\r\nAuthorization: Bearer ${secret}\r\nX-Request-Id: ${id}\r\n`;
socket.write(`GET /plants/export HTTP/1.1\r\n${headers}\r\n`);
for (;;) {
  await setTimeout(100);
  if (isDue()) socket.resume();
}

/** Counts the bytes. Returns false to pause the socket. */
function takeSome(bytes: number): boolean {
  readBytes += bytes;
  return isDue();
}

function isDue(): boolean {
  return readBytes < ((performance.now() - startMs) / 1000) * bytesPerSecond;
}
