// A process that opens connections from one address, requests /healthz on each, and holds them open until stdin closes.
// Its argument is JSON. It prints one JSON line: the count of each status, and the last response that was not a 200.

import { connect } from 'node:net';

export interface HeldConnections {
  statuses: Record<string, number>;
  refusal: string;
}

const AT_ONCE = 100;

const { host, port, from, count } = JSON.parse(process.argv[2] as string);
const held: HeldConnections = { statuses: {}, refusal: '' };
process.stdin.on('end', () => process.exit()).resume();
for (let left = count; left > 0; left -= AT_ONCE) {
  await Promise.all(Array.from({ length: Math.min(left, AT_ONCE) }, open));
}
process.stdout.write(`${JSON.stringify(held)}\n`);

function open(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, localAddress: from });
    socket.on('connect', () => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      if (!received.includes('\r\n\r\n{')) return;
      const status = received.slice(9, 12);
      held.statuses[status] = (held.statuses[status] ?? 0) + 1;
      if (status !== '200') held.refusal = received;
      received = '';
      resolve();
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const name = error.code ?? error.message;
      if (received === '') held.statuses[name] = (held.statuses[name] ?? 0) + 1;
      resolve();
    });
  });
}
