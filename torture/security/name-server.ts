// A DNS server on a loopback address, and a command prefix that makes a process use it. A name can resolve to any
// address, and to another one the next time.

import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { isIPv4 } from 'node:net';
import { join } from 'node:path';
import ipaddr from 'ipaddr.js';
import { makeFolder } from '../../testing/server.ts';

const HOST = '127.0.0.77';
const HEADER_BYTES = 12;
const A = 1;
const AAAA = 28;
const NO_SUCH_NAME = 3;

export interface NameServer {
  /** Number of queries by name and type. */
  asked: Map<string, number>;
  /** Command prefix. */
  wrapper: string[];
  close(): void;
}

/** Returns the addresses of a name. `before` is the number of earlier queries for it. */
export type Answers = (name: string, before: number) => string[] | undefined;

/** Returns the reason why this machine cannot run the name server, if any. */
export function whyNoNames(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'only root on Linux can replace the name server of a process';
  const { status } = spawnSync('unshare', ['-m', 'mount', '--bind', '/etc/hosts', '/etc/resolv.conf']);
  return status === 0 ? undefined : 'this system does not allow mount namespaces';
}

export async function startNameServer(answers: Answers): Promise<NameServer> {
  const asked = new Map<string, number>();
  const socket = createSocket('udp4');
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query);
    const key = `${name} ${type}`;
    const found = answers(name, asked.get(key) ?? 0);
    asked.set(key, (asked.get(key) ?? 0) + 1);
    socket.send(answer(query.subarray(0, end), type, found), port, address);
  });
  socket.bind(53, HOST);
  await once(socket, 'listening');
  const file = join(makeFolder(), 'resolv.conf');
  writeFileSync(file, `nameserver ${HOST}\n`);
  const script = `mount --bind '${file}' /etc/resolv.conf && exec "$@"`;
  return { asked, wrapper: ['unshare', '-m', 'sh', '-c', script, 'sh'], close: () => socket.close() };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** Returns the response with a TTL of 0, so that it is not cached. */
function answer(question: Buffer, type: number, addresses: string[] | undefined): Buffer {
  const wanted = (addresses ?? []).filter((address) => type === (isIPv4(address) ? A : AAAA));
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8180 | (addresses ? 0 : NO_SUCH_NAME), 2);
  head.writeUInt16BE(wanted.length, 6);
  head.writeUInt32BE(0, 8);
  const records = wanted.map((address) => {
    const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
    const record = Buffer.alloc(12);
    record.writeUInt16BE(0xc000 | HEADER_BYTES, 0);
    record.writeUInt16BE(type, 2);
    record.writeUInt16BE(1, 4);
    record.writeUInt16BE(bytes.length, 10);
    return Buffer.concat([record, bytes]);
  });
  return Buffer.concat([head, ...records]);
}
