// Tests connections that a server ends as they open, with a server that only speaks the start of the protocol.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectClient, createPool } from './connect.ts';

/** Returns a message of the protocol: its type, its length and its content. */
function message(type: string, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length + 4);
  return Buffer.concat([Buffer.from(type), length, bytes]);
}

const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', 'I');
const FATAL = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0');

/** Starts a server that accepts each login and ends the connection in the same packet. Returns its port. */
async function startEndingServer(t: { after(work: () => void): void }): Promise<number> {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket.on('error', () => {}));
    socket.once('data', () => socket.end(Buffer.concat([AUTHENTICATED, READY, FATAL])));
  }).listen(0, '127.0.0.1');
  t.after(() => {
    server.close();
    for (const socket of open) socket.destroy();
  });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a server that ends a connection as it opens ends no process', async (t) => {
  const hosts = [await startEndingServer(t), await startEndingServer(t)].map((port) => `127.0.0.1:${port}`);
  for (const url of [
    `postgres://u@${hosts[0]}/plants`,
    `postgres://u@${hosts[0]}/plants?target_session_attrs=read-write`,
    `postgres://u@${hosts}/plants`,
    `postgres://u@${hosts}/plants?target_session_attrs=primary`,
  ]) {
    const use = async (connected: Promise<{ query(text: string): Promise<unknown> }>) => (await connected).query('');
    const pool = createPool(url, () => 2);
    for (const connected of [pool.connect(), pool.connect(), connectClient(url)]) {
      await assert.rejects(use(connected), /terminating connection|not queryable|Connection terminated/, url);
    }
    void pool.end(); // never resolves, because the test does not release the clients
  }
});
