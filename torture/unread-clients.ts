// A process with clients that send requests and read nothing, beside an honest client that reads lists. Its argument is
// JSON. It prints one JSON line: the count of each status that the honest client received.

import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { send } from '../testing/request.ts';
import { until } from '../testing/until.ts';

const { port, honest, text, count, heldMs } = JSON.parse(process.argv[2] as string);
const sockets = Array.from({ length: count }, () =>
  connect(port, '127.0.0.1')
    .on('error', () => {})
    .pause(),
);
await until(() => sockets.every(({ connecting }) => !connecting));
const statuses: Record<string, number> = {};
const endMs = performance.now() + heldMs;
for (const socket of sockets) socket.write(text);
while (performance.now() < endMs) {
  const headers = { authorization: `Bearer ${honest}` };
  const status = await send(port, { path: '/plants', headers }).then((answer) => answer.status, String);
  statuses[status] = (statuses[status] ?? 0) + 1;
  await setTimeout(20);
}
process.stdout.write(JSON.stringify(statuses));
process.exit();
