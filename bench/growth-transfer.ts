// Imports and exports of whole stores: with `plant-store import`, and through the running server.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { besideServer, LAUNCHER } from '../testing/launch.ts';
import { peakMibOf } from './measure.ts';
import type { TokenedServer } from './server.ts';

const PEAK_EVERY_MS = 20;
const NEW_LINE = 10;

export interface Transfer {
  perSecond: number;
  /** Peak memory of the process since its start. */
  peakMib: number;
}

export interface File {
  path: string;
  records: number;
}

/** Measures `plant-store import`, including the start of the process. */
export async function importByCommand(database: string, file: File): Promise<Transfer> {
  await besideServer(`sqlite:${database}`, async () => {}); // creates the store
  const begunMs = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, 'import', file.path], {
    env: { PATH: process.env.PATH, DATABASE_URL: `sqlite:${database}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let peakMib = 0;
  const timer = setInterval(() => {
    peakMib = Math.max(peakMib, peakMibOf(child.pid as number) ?? 0);
  }, PEAK_EVERY_MS);
  const [[status], said] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  clearInterval(timer);
  if (status !== 0) throw new Error(said);
  return { perSecond: rate(file.records, begunMs), peakMib };
}

export async function importOverHttp(server: TokenedServer, file: File): Promise<Transfer> {
  const begunMs = performance.now();
  const asked = ask(server, 'POST', '/plants/import', { 'content-type': 'application/x-ndjson' });
  const answered = once(asked, 'response');
  await pipeline(createReadStream(file.path), asked);
  const [answer] = (await answered) as [IncomingMessage];
  const { created } = JSON.parse(await text(answer));
  if (created !== file.records) throw new Error(`${created} of ${file.records} records were imported`);
  return { perSecond: rate(created, begunMs), peakMib: peakMibOf(server.pid) ?? 0 };
}

export async function exportOverHttp(server: TokenedServer, records: number): Promise<Transfer> {
  const begunMs = performance.now();
  const asked = ask(server, 'GET', '/plants/export', {}).end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  let lines = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    for (let at = chunk.indexOf(NEW_LINE); at !== -1; at = chunk.indexOf(NEW_LINE, at + 1)) lines++;
  }
  if (lines !== records) throw new Error(`${lines} of ${records} records were exported`);
  return { perSecond: rate(lines, begunMs), peakMib: peakMibOf(server.pid) ?? 0 };
}

/** Waits until the order by name has all plants of an import. Returns the time in seconds. */
export async function waitForNameOrder(server: TokenedServer): Promise<number> {
  const begunMs = performance.now();
  for (;;) {
    const asked = ask(server, 'GET', '/plants?sort=name&limit=1', {}).end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await text(answer);
    if (answer.statusCode === 200) return (performance.now() - begunMs) / 1000;
    if (answer.statusCode !== 503) throw new Error(`The list by name returned ${answer.statusCode}`);
  }
}

function ask({ url, secret }: TokenedServer, method: string, path: string, headers: Record<string, string>) {
  return request(url + path, { method, agent: false, headers: { authorization: `Bearer ${secret}`, ...headers } });
}

function rate(records: number, begunMs: number): number {
  return (1000 * records) / (performance.now() - begunMs);
}
