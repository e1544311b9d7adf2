// The client's exports: the whole store as plants, or as the bytes of a file.

import type { PlantStoreError } from '../domain/errors.ts';
import type { NewPlant, Snapshot } from '../domain/plant.ts';
import { parseJson } from '../lib/exact-json.ts';
import type { FileType } from './import.ts';
import { type CallOptions, openResponseBody, type Requester, type ResponseBody } from './request.ts';
import { networkCodesOf, parseWith, seqOf, TransientError, withExactId } from './response.ts';

const NEWLINE = 0x0a;

/** Options of `exportFile`. */
export interface ExportFileOptions extends CallOptions {
  /** Format of the file. */
  type: FileType;
}

/** Exports of the whole store. The server disconnects a client that does not read for 60 s. */
export interface Exports {
  /** Returns a consistent snapshot of all plants, in ascending order of id. */
  export(options?: CallOptions): Promise<Snapshot>;
  /** Returns the bytes that the server sends. The stream fails with `unavailable` if the export is incomplete. */
  exportFile(options: ExportFileOptions): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

/** Returns the client's export methods. `timeoutMs` limits the wait for each chunk. */
export function createExports({ request }: Requester, timeoutMs: number): Exports {
  return {
    export(options = {}) {
      return open('application/x-ndjson', options, ({ headers }, body, firstChunk) => ({
        seq: seqOf(headers),
        plants: readPlants(firstChunk, body, options.signal),
        close: body.close,
      }));
    },
    exportFile({ type, ...options }) {
      return open(type, options, (_response, body, firstChunk) => toStream(firstChunk, body));
    },
  };

  /** Requests an export and retries until the first chunk has arrived. */
  function open<T>(
    accept: FileType,
    options: CallOptions,
    toValue: (response: Response, body: ResponseBody, firstChunk: Bytes | undefined) => T,
  ): Promise<T> {
    const { signal, timeoutMs: chunkMs = timeoutMs } = options;
    const call = { ...options, method: 'GET', path: '/plants/export', headers: { accept } } as const;
    return request(call, async (response) => {
      const body = openResponseBody(response, chunkMs, signal);
      return toValue(response, body, await body.read());
    });
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

function toStream(firstChunk: Bytes | undefined, body: ResponseBody): ReadableStream<Bytes> {
  let next = firstChunk;
  let isWhole = true;
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = next ?? (await readNext(body));
        next = undefined;
        if (chunk !== undefined) {
          isWhole = chunk.at(-1) === NEWLINE;
          controller.enqueue(chunk);
        } else if (isWhole) controller.close();
        else throw incompleteExport();
      },
      cancel: body.close,
    },
    { highWaterMark: 0 },
  );
}

async function* readPlants(
  firstChunk: Bytes | undefined,
  body: ResponseBody,
  signal: AbortSignal | undefined,
): AsyncGenerator<NewPlant> {
  const decoder = new TextDecoder();
  let unended = '';
  try {
    for (let bytes = firstChunk; bytes !== undefined; bytes = await readNext(body)) {
      const lines = (unended + decoder.decode(bytes, { stream: true })).split('\n');
      unended = lines.pop() ?? '';
      for (const line of lines) {
        if (body.isClosed()) return;
        signal?.throwIfAborted();
        yield parseWith(() => withExactId(parseJson(line) as NewPlant));
      }
    }
    if (unended !== '' && !body.isClosed()) throw incompleteExport();
  } finally {
    body.close();
  }
}

/** Reads the next chunk. Throws `unavailable` with other advice than for a server that cannot be reached. */
function readNext(body: ResponseBody): Promise<Bytes | undefined> {
  return body.read().catch((error) => {
    throw networkCodesOf(error)?.length ? incompleteExport() : error;
  });
}

function incompleteExport(): PlantStoreError {
  return new TransientError(
    'unavailable',
    'The connection closed before the export was complete. Export again. On SQLite, the server ends exports that take too long beside many writes.',
  );
}
