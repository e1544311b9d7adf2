// A process with clients that send requests and read nothing, beside an honest client that reads lists. Its argument is
// JSON. It prints one JSON line: the count of each status that the honest client received.

import { connect } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { send } from '../testing/request.ts';
import { until } from '../testing/until.ts';

const { port, secret, honest, text, count, heldMs } = JSON.parse(process.argv[2] as string);
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
  const status = await statusOf('/plants', honest).catch(String);
  statuses[status] = (statuses[status] ?? 0) + 1;
  await setTimeout(20);
}
for (const socket of sockets) socket.destroy();
await until(async () => (await statusOf('/plants?limit=1000', secret)) === 200); // what nobody will read no longer counts
process.stdout.write(JSON.stringify(statuses));
process.exit();

async function statusOf(path: string, token: string): Promise<number> {
  return (await send(port, { path, headers: { authorization: `Bearer ${token}` } })).status;
}
