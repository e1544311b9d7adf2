// A process that reads an export at a steady rate until it is ended.

import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '' },
    secret: { type: 'string', default: '' },
    id: { type: 'string', default: '' },
    bytesPerSecond: { type: 'string', default: '1000' },
  },
});
const socket = connect({ host: '127.0.0.1', port: Number(values.port) });
const startMs = performance.now();
socket.on('readable', () => {}).on('error', () => {});
const headers = `Host: x\r\nAuthorization: Bearer ${values.secret}\r\nX-Request-Id: ${values.id}\r\n`;
socket.write(`GET /plants/export HTTP/1.1\r\n${headers}\r\n`);
for (;;) {
  const due = ((performance.now() - startMs) / 1000) * Number(values.bytesPerSecond);
  while (socket.bytesRead - socket.readableLength < due) if ((socket.read(1024) ?? socket.read()) === null) break;
  await setTimeout(250);
}
