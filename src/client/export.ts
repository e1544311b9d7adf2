// The whole store, for the client: as plants, or as the bytes of a file.

import { PlantStoreError } from '../domain/errors.ts';
import type { NewPlant, Snapshot } from '../domain/plant.ts';
import { parseJson } from '../lib/exact-json.ts';
import type { FileType } from './import.ts';
import { type CallOptions, openResponseBody, type Requester, type ResponseBody } from './request.ts';
import { parseWith, seqOf, withExactId } from './response.ts';

const NEWLINE = 0x0a;

export interface ExportFileOptions extends CallOptions {
  type: FileType;
}

/** The service cuts off who does not read on for 10 s. */
export interface Exports {
  export(options?: CallOptions): Promise<Snapshot>;
  /** As the service sends them. Who reads a stream that was cut off gets `unavailable`. */
  exportFile(options: ExportFileOptions): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
}

export function createExports({ request }: Requester, timeoutMs: number): Exports {
  return {
    export(options = {}) {
      return open('application/x-ndjson', options, ({ headers }, body, firstPiece) => ({
        seq: seqOf(headers),
        plants: readPlants(firstPiece, body, options.signal),
        close: body.close,
      }));
    },
    exportFile({ type, ...options }) {
      return open(type, options, (_response, body, firstPiece) => toStream(firstPiece, body));
    },
  };

  /** Until the first piece is there it is asked for again. */
  function open<T>(
    accept: FileType,
    options: CallOptions,
    toValue: (response: Response, body: ResponseBody, firstPiece: Bytes | undefined) => T,
  ): Promise<T> {
    const { signal, timeoutMs: pieceMs = timeoutMs } = options;
    const call = { ...options, method: 'GET', path: '/plants/export', headers: { accept } } as const;
    return request(call, async (response) => {
      const body = openResponseBody(response, pieceMs, signal);
      return toValue(response, body, await body.read());
    });
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

function toStream(firstPiece: Bytes | undefined, body: ResponseBody): ReadableStream<Bytes> {
  let next = firstPiece;
  let isWhole = true;
  return new ReadableStream(
    {
      async pull(controller) {
        const piece = next ?? (await body.read());
        next = undefined;
        if (piece !== undefined) {
          isWhole = piece.at(-1) === NEWLINE;
          controller.enqueue(piece);
        } else if (isWhole) controller.close();
        else throw cutOff();
      },
      cancel: body.close,
    },
    { highWaterMark: 0 },
  );
}

async function* readPlants(
  firstPiece: Bytes | undefined,
  body: ResponseBody,
  signal: AbortSignal | undefined,
): AsyncGenerator<NewPlant> {
  const decoder = new TextDecoder();
  let unended = '';
  try {
    for (let bytes = firstPiece; bytes !== undefined; bytes = await body.read()) {
      const lines = (unended + decoder.decode(bytes, { stream: true })).split('\n');
      unended = lines.pop() ?? '';
      for (const line of lines) {
        if (body.isClosed()) return;
        signal?.throwIfAborted();
        yield parseWith(() => withExactId(parseJson(line) as NewPlant));
      }
    }
    if (unended !== '' && !body.isClosed()) throw cutOff();
  } finally {
    body.close();
  }
}

function cutOff(): PlantStoreError {
  return new PlantStoreError('unavailable', 'The export was cut off');
}
