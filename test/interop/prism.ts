// Starts Prism as a proxy that compares requests and responses with an OpenAPI description.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { atEndOfFile } from '../../testing/clean-up.ts';
import { freePort } from '../../testing/free-port.ts';
import type { Answer } from '../../testing/request.ts';
import type { Scenario } from '../scenarios.ts';
import { TOOL_ENV } from './install.ts';

const READY = 'Prism is listening';

export interface Violation {
  /** `request` or `response`, followed by the part. */
  location: string[];
  severity: string;
  message: string;
}

/** Starts the proxy in front of a server and returns its port. */
export async function startPrism(tools: string, url: string): Promise<number> {
  const port = await freePort();
  const args = ['proxy', `${url}/openapi.json`, url, '--port', String(port), '--errors', 'false'];
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

/** Returns the violations that Prism reports with a response. */
export function violationsOf({ headers }: Answer): Violation[] {
  return JSON.parse(String(headers['sl-violations'] ?? '[]'));
}

/** Scenarios with numbers that Prism rounds, because it parses JSON and prints it again. */
const ROUNDED = [
  ...['the smallest id', 'the largest id', 'id 9007199254740993', 'id 9.223372036854775806e18', 'id 1e-400'],
];

/**
 * True if Prism passes the request on unchanged. It hangs or crashes on malformed JSON, media types and
 * percent-encoding, knows no HEAD, and adds a Content-Length to chunked bodies.
 */
export function canCarry({ name, send: { method, path = '', headers = {}, body = '' } }: Scenario): boolean {
  const type = String(headers['content-type'] ?? '');
  const isHeaderKept = !('transfer-encoding' in headers || 'expect' in headers);
  const isText = typeof body === 'string' && /^$|\//.test(type) && !/charset=(?!"?utf-8)/i.test(type);
  const isBodyKept = isText && (body === '' || !/json\b/i.test(type) || isReadable(() => JSON.parse(body)));
  const isPathKept = isReadable(() => decodeURIComponent(path));
  return method !== 'HEAD' && isHeaderKept && isBodyKept && isPathKept && !ROUNDED.includes(name);
}

function isReadable(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}
