// A process that creates plants over many connections, with `depth` pipelined requests on each, and counts the
// responses. It uses raw sockets because it shares the machine with the server. It retries a 503 after 1 s, as
// Retry-After requires.

import { connect, type Socket } from 'node:net';

export interface Created {
  stored: number;
  refused: number;
  /** Number of 503 responses without `Retry-After: 1`. */
  rude: number;
  /** Counts of all other outcomes, by status or error message. */
  others: Record<string, number>;
}

const MAX_MS = 60_000;
const RETRY_AFTER_MS = 1000;

/** The process ends when the server has stored `stored` plants, and after one minute in any case. */
const { port, secret, connections, depth, stored, first } = JSON.parse(process.argv[2] as string);
const head = `POST /plants HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\nContent-Type: application/json\r\n`;
const counts: Created = { stored: 0, refused: 0, rude: 0, others: {} };
let id = first;
let isOver = false;

for (let n = 0; n < connections; n++) open();
setTimeout(end, MAX_MS);

function end(): void {
  if (isOver) return;
  isOver = true;
  process.stdout.write(JSON.stringify(counts), () => process.exit());
}

function open(): void {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => write(socket, depth));
  let rest = '';
  socket.on('data', (chunk) => {
    if (isOver) return;
    const texts = (rest + chunk.toString('latin1')).split(/(?=HTTP\/1\.1 )/);
    rest = texts.pop() ?? '';
    if (isWhole(rest)) {
      texts.push(rest);
      rest = '';
    }
    let refused = 0;
    for (const text of texts) if (count(text) === 'refused') refused++;
    write(socket, texts.length - refused);
    if (refused > 0) setTimeout(write, RETRY_AFTER_MS, socket, refused);
  });
  socket.on('error', ({ message }) => note(message));
}

function write(socket: Socket, requests: number): void {
  let text = '';
  for (let n = 0; n < requests; n++) {
    const body = `{"id":${id},"name":"Plant number ${id++}"}`;
    text += `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  }
  if (text !== '' && socket.writable) socket.write(text);
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  return end !== -1 && text.length >= end + 4 + Number(/content-length: (\d+)/.exec(text)?.[1]);
}

function count(text: string): 'refused' | undefined {
  const status = text.slice(9, 12);
  if (status === '200') {
    if (++counts.stored >= stored) end();
  } else if (status === '503') {
    counts.refused++;
    if (!text.includes('retry-after: 1\r\n')) counts.rude++;
    return 'refused';
  } else note(status);
  return undefined;
}

function note(what: string): void {
  counts.others[what] = (counts.others[what] ?? 0) + 1;
}
