// Starts Prism as a proxy that compares requests and responses with an OpenAPI description. Prism cannot pass on every
// request, so a relay between Prism and the server sends the real request instead. Prism then sees the real response.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { atEndOfFile } from '../../testing/clean-up.ts';
import { freePort } from '../../testing/free-port.ts';
import { type Answer, type Sent, send } from '../../testing/request.ts';
import type { Scenario } from '../scenarios.ts';
import { TOOL_ENV } from './install.ts';

const READY = 'Prism is listening';

export interface Violation {
  /** `request` or `response`, followed by the part. */
  location: string[];
  severity: string;
  message: string;
}

/** Starts the proxy in front of `upstream` and returns its port. The server at `url` has the description. */
export async function startPrism(tools: string, url: string, upstream = url): Promise<number> {
  const port = await freePort();
  const args = ['proxy', `${url}/openapi.json`, upstream, '--port', String(port), '--errors', 'false'];
  const child = spawn(join(tools, 'node_modules/.bin/prism'), args, {
    env: TOOL_ENV,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  atEndOfFile(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'close');
  });
  child.stderr.resume();
  await new Promise<void>((resolve, reject) => {
    let printed = '';
    child.stdout.on('data', (text) => {
      if (printed.includes(READY)) return; // Prism also prints each request
      printed += text;
      if (printed.includes(READY)) resolve();
    });
    child.once('close', () => reject(new Error(`Prism ended before it was listening: ${printed}`)));
  });
  return port;
}

/** Starts a relay in front of a server. */
export async function startRelay(serverPort: number) {
  let real: Sent = {};
  const relay = createServer(async (_standIn, response) => {
    const { status, headers, body } = await send(serverPort, real);
    const { connection, 'content-length': length, 'transfer-encoding': coding, ...kept } = headers;
    response.writeHead(status, kept).end(body);
  }).listen(0, '127.0.0.1');
  await once(relay, 'listening');
  atEndOfFile(() => void relay.close());

  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    /** Sends a simple request of the same operation to Prism, and `sent` to the server. */
    sendThrough(prismPort: number, sent: Sent): Promise<Answer> {
      real = sent;
      const { method = 'GET', path = '/' } = sent;
      return send(prismPort, { method, path: path.replace(/%(zz|ff)/g, '') });
    },
  };
}

/** Prism limits the format int64 to the integers of JavaScript, although the description has no such limit. */
const INT64_LIMIT = /must be (<= |>= -)9007199254740991$/;

/** Returns the violations that Prism reports with a response. */
export function violationsOf({ headers }: Answer): Violation[] {
  const violations: Violation[] = JSON.parse(String(headers['sl-violations'] ?? '[]'));
  return violations.filter(({ message }) => !INT64_LIMIT.test(message));
}

/** Scenarios with numbers that Prism rounds, because it parses JSON and prints it again. */
const ROUNDED = [
  ...['the smallest id', 'the largest id', 'id 9007199254740993', 'id 9.223372036854775806e18', 'id 1e-400'],
];

/**
 * True if Prism passes the request on unchanged. It hangs or crashes on malformed JSON, media types and
 * percent-encoding, and adds a Content-Length to chunked bodies.
 */
export function canCarry({ name, send: { path = '', headers = {}, body = '' } }: Scenario): boolean {
  const type = String(headers['content-type'] ?? '');
  const isHeaderKept = !('transfer-encoding' in headers || 'expect' in headers);
  const isText = typeof body === 'string' && /^$|\//.test(type) && !/charset=(?!"?utf-8)/i.test(type);
  const isBodyKept = isText && (body === '' || !/json\b/i.test(type) || isReadable(() => JSON.parse(body)));
  const isPathKept = isReadable(() => decodeURIComponent(path));
  return isHeaderKept && isBodyKept && isPathKept && !ROUNDED.includes(name);
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
