// A process that takes an export at a steady rate, for so long at most. Prints one line: after how many seconds the server
// has closed the connection; nothing else if it has not.

import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '' },
    secret: { type: 'string', default: '' },
    bytesPerSecond: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
  },
});
const socket = connect({ host: '127.0.0.1', port: Number(values.port) });
const startMs = performance.now();
const seconds = () => (performance.now() - startMs) / 1000;
let isClosed = false;
for (const event of ['error', 'end', 'close']) {
  socket.on(event, () => {
    isClosed = true;
  });
}
socket.on('readable', () => {});
socket.write(`GET /plants/export HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${values.secret}\r\n\r\n`);
while (!isClosed && seconds() < Number(values.seconds)) {
  const due = seconds() * Number(values.bytesPerSecond) - readBytes();
  for (let left = due; left > 0; left -= 1024) if ((socket.read(1024) ?? socket.read()) === null) break;
  await setTimeout(250);
}
if (isClosed) process.stdout.write(`${seconds().toFixed(0)}\n`);
process.exit();

function readBytes(): number {
  return socket.bytesRead - socket.readableLength;
}
