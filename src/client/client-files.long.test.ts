// Compares files that the client imports in pieces with the same files sent to a server in one request.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { send } from '../../testing/request.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { ERROR_NUMBERS } from '../domain/errors.ts';
import { type ClientOptions, createClient, type FileType, type ImportProgress, PlantStoreError } from './client.ts';

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';

/** Two stores with the same content: one imports whole files, the other imports pieces. */
let whole: TestService;
let inPieces: TestService;
before(async () => {
  [whole, inPieces] = await Promise.all([startTestService(), startTestService()]);
});
after(() => Promise.all([whole.stop(), inPieces.stop()]));

function clientOf(server: TestService, options: Partial<ClientOptions> = {}) {
  return createClient({ url: server.url, token: server.secret, ...options });
}

async function importWhole(type: FileType, file: Blob): Promise<unknown> {
  const headers = { authorization: `Bearer ${whole.secret}`, 'content-type': type };
  const body = Buffer.from(await file.arrayBuffer());
  return JSON.parse((await send(whole.port, { method: 'POST', path: '/plants/import', headers, body })).body);
}

/** Returns the result in the form of the server's response. */
async function importInPieces(type: FileType, file: Blob, progress: ImportProgress[] = []): Promise<unknown> {
  try {
    const onProgress = (made: ImportProgress) => progress.push(made);
    const { errors, ...counts } = await clientOf(inPieces).importFile(file, { type, onProgress });
    return { ...counts, errors: errors.map(({ line, error }) => ({ line, ...toBody(error) })) };
  } catch (error) {
    return toBody(error as PlantStoreError);
  }
}

function toBody({ code, message }: PlantStoreError): { error: number; message: string } {
  return { error: ERROR_NUMBERS[code], message };
}

function csvRows(from: number, count: number): string {
  return Array.from({ length: count }, (_, n) => {
    const id = from + n;
    if (id % 100 === 7) return `${id},"not closed,t\r\n`;
    return id % 10 === 3 ? `x${id},bad\n` : `${id},"Été ""${id}""\n${'🌵'.repeat(40)}",${id % 2 ? '""' : ''}\r\n`;
  }).join('');
}

test('importFile() gives the same result as importing the whole file at once, in both formats', async () => {
  const lines = Array.from({ length: 6000 }, (_, n) => {
    if (n % 2000 === 11) return '\ufeff{"id":-1,"name":"a mark in the middle"}\n';
    return n % 9 === 0 ? `{"id":${-n},"name":5}\r\n` : `{"id":-${n % 4000},"name":"Plant ${'x'.repeat(150)}"}\n`;
  }).join('');
  const files: [FileType, string][] = [
    [NDJSON, `\ufeff${lines}{"id":-50000,"name":"${'x'.repeat(2_000_000)}"}\n\n{"id":-50001,"name":"last"}`],
    [CSV, `\ufeffname,ID,"tag"\r\n"a ""1""\n",1,t\n`],
    [CSV, `id,name,tag\r\n${csvRows(100, 7000)}200000,"last\none"`],
    [NDJSON, ''],
    [CSV, ''],
    [CSV, 'id,name'],
    [CSV, 'id,name\n'],
    [CSV, `id;name\n${csvRows(300_000, 10)}`],
  ];
  for (const [type, text] of files) {
    const file = new Blob([text]);
    const progress: ImportProgress[] = [];
    const result = await importInPieces(type, file, progress);
    assert.deepEqual(result, await importWhole(type, file));
    if (file.size < 1_000_000) continue;
    assert.ok(progress.length >= 2, `${progress.length} pieces of ${file.size} bytes`);
    const { bytes, totalBytes, result: last } = progress.at(-1) as ImportProgress;
    assert.deepEqual([bytes, totalBytes], [file.size, file.size]);
    assert.equal(last.errors.length, Math.min(1000, last.failed));
  }
  const exports = await Promise.all([whole, inPieces].map((server) => exported(server, CSV)));
  assert.equal(exports[0], exports[1]);
});

test('importFile() retries a piece after a lost response, and stops when the signal aborts', async () => {
  const file = new Blob([
    Array.from({ length: 20_000 }, (_, n) => `{"id":${n + 500_000},"name":"${'x'.repeat(100)}"}\n`).join(''),
  ]);
  let calls = 0;
  const losing = clientOf(inPieces, {
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (++calls === 2) throw new TypeError('lost');
      return response;
    },
    async sleep() {},
  });
  const { created, replayed, failed } = await losing.importFile(file, { type: NDJSON });
  assert.deepEqual([created + replayed, failed, replayed > 0], [20_000, 0, true]);

  const abort = new AbortController();
  const seen: number[] = [];
  const stopped = clientOf(inPieces).importFile(file, {
    type: NDJSON,
    signal: abort.signal,
    onProgress({ bytes }) {
      seen.push(bytes);
      abort.abort('enough');
    },
  });
  await assert.rejects(stopped, (reason) => reason === 'enough');
  assert.equal(seen.length, 1);
});

test('exportFile() returns the bytes of the export, which can be imported unchanged', async () => {
  const empty = await startTestService();
  assert.equal(await exported(empty, NDJSON), '');
  assert.equal(await exported(empty, CSV), 'id,name,tag\n');
  await clientOf(empty).import([{ id: 9223372036854775807n, name: 'é,"\n', tag: '' }]);
  assert.equal(await exported(empty, CSV), 'id,name,tag\n9223372036854775807,"é,""\n",""\n');
  const text = await exported(empty, NDJSON);
  assert.equal(text, '{"id":9223372036854775807,"name":"é,\\"\\n","tag":""}\n');
  const { replayed } = await clientOf(empty).importFile(new Blob([text]), { type: NDJSON });
  assert.equal(replayed, 1);
  await empty.stop();
});

test('exportFile() fails if the export is incomplete, and closes the connection when the stream is cancelled', async () => {
  const incomplete = respondingWith(() => new Response('id,name,tag\n1,x'));
  await assert.rejects(new Response(await incomplete.exportFile({ type: CSV })).text(), isUnavailable);
  const broken = respondingWith(() => {
    let pulls = 0;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (++pulls === 2) controller.error(new TypeError('terminated'));
          else controller.enqueue(new TextEncoder().encode('id,name,tag\n'));
        },
      }),
    );
  });
  await assert.rejects(new Response(await broken.exportFile({ type: CSV })).text(), isUnavailable);

  let cancelled = false;
  const endless = respondingWith(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new TextEncoder().encode('1,x,\n')),
          cancel() {
            cancelled = true;
          },
        }),
      ),
  );
  for await (const piece of await endless.exportFile({ type: CSV })) if (piece.length > 0) break;
  assert.ok(cancelled);
});

function respondingWith(respond: () => Response) {
  return createClient({ url: 'http://127.0.0.1', token: 't', retries: 0, fetch: async () => respond() });
}

async function exported(server: TestService, type: FileType): Promise<string> {
  return new Response(await clientOf(server).exportFile({ type })).text();
}

function isUnavailable(error: unknown): boolean {
  return error instanceof PlantStoreError && error.code === 'unavailable';
}
