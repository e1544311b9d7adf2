// Forwards bytes to a local port and simulates network faults: it drops connections and discards responses.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Proxy {
  port: number;
  /** Forwards requests and discards responses. */
  isMuted: boolean;
  /** Number of connections so far. */
  connections: number;
  /** Drops all open connections. */
  drop(): void;
  close(): void;
}

export async function startProxy(toPort: number): Promise<Proxy> {
  const open = new Set<Socket>();
  const server = createServer((client) => {
    proxy.connections++;
    const upstream = connect(toPort, '127.0.0.1');
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      if (!proxy.isMuted) client.write(chunk);
    });
    upstream.on('end', () => client.end());
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy: Proxy = {
    port: (server.address() as AddressInfo).port,
    isMuted: false,
    connections: 0,
    drop() {
      for (const socket of open) socket.destroy();
    },
    close() {
      proxy.drop();
      server.close();
    },
  };
  return proxy;
}
