// The client's imports: an array of plants, or a file of any length, sent in pieces.

import type { ImportResult, NewPlant } from '../domain/plant.ts';
import { printJson } from '../lib/exact-json.ts';
import { cutFile, type FileBytes } from './file-pieces.ts';
import type { CallOptions, Requester } from './request.ts';
import { toImportResult } from './response.ts';

/** Maximum number of errors that an import response lists. */
const MAX_ERRORS_LISTED = 1000;
/** Size at which a request is sent. It is small enough for a slow connection to send within the timeout. */
const CHARACTERS_AT_ONCE = 1024 * 1024;

/** Media type of a file of plants. */
export type FileType = 'application/x-ndjson' | 'text/csv';

/** Progress of `importFile`. */
export interface ImportProgress {
  /** Number of bytes of the file that were imported. */
  bytes: number;
  /** Size of the file in bytes. If the file is not a Blob, the number of bytes that were imported. */
  totalBytes: number;
  /** Result of the import up to now. */
  result: ImportResult;
  /** Result of the newest piece. It lists the first 1,000 errors of the piece. */
  piece: ImportResult;
}

/** Options of an import. */
export interface ImportOptions extends CallOptions {
  /**
   * With `true`, the server checks all plants and compares them with the store, but stores nothing. One request sends
   * all plants, so that the check finds an id that occurs twice. The timeout then applies to each MiB of the request,
   * and the result lists the first 1,000 errors.
   */
  dryRun?: boolean | undefined;
}

/** Options of `importFile`. */
export interface ImportFileOptions extends ImportOptions {
  /** Format of the file. */
  type: FileType;
  /** Called after each piece of the file, or once at the end of a dry run. */
  onProgress?: ((progress: ImportProgress) => void) | undefined;
}

/** Imports of many plants. A rejected plant does not stop the others. */
export interface Imports {
  /** Creates the plants, in requests of at most 1,000 plants. The n-th plant is line n, and every error is listed. */
  import(plants: NewPlant[], options?: ImportOptions): Promise<ImportResult>;
  /**
   * Sends a file in pieces of about 1 MiB, and retries each piece after a transient failure. Line numbers refer to the
   * file, and the result lists the first 1,000 errors. If it throws, earlier pieces are already stored. Importing the
   * file again is safe. A dry run reads the whole file into memory unless it is a Blob.
   */
  importFile(file: FileBytes, options: ImportFileOptions): Promise<ImportResult>;
}

/** Returns the client's import methods. `timeoutMs` is the default timeout of a request. */
export function createImports({ requestJson }: Requester, timeoutMs: number): Imports {
  return {
    async import(plants, { dryRun, ...options } = {}) {
      if (dryRun)
        return tryAll('application/x-ndjson', new Blob(plants.map((plant) => `${printJson(plant)}\n`)), options);
      const result = noPlants();
      for (let done = 0; done < plants.length; ) {
        const lines = printLines(plants, done);
        add(result, await send('application/x-ndjson', lines.join('\n'), done, options));
        done += lines.length;
      }
      return result;
    },
    async importFile(file, { type, dryRun, onProgress, ...options }) {
      if (dryRun) {
        const whole = file instanceof Blob ? file : new Blob(await Array.fromAsync(file, (chunk) => chunk.slice()));
        const result = await tryAll(type, whole, options);
        onProgress?.({ bytes: whole.size, totalBytes: whole.size, result: copyOf(result), piece: copyOf(result) });
        return result;
      }
      const result = noPlants();
      for await (const { body, linesBefore, bytes } of cutFile(file, type === 'text/csv')) {
        const piece = await send(type, body, linesBefore, options);
        add(result, piece);
        result.errors.length = Math.min(result.errors.length, MAX_ERRORS_LISTED);
        const totalBytes = file instanceof Blob ? file.size : bytes;
        onProgress?.({ bytes, totalBytes, result: copyOf(result), piece });
      }
      return result;
    },
  };

  /** Sends a whole file as a dry run. The time that a piece of a real import has is allowed for each MiB. */
  function tryAll(type: FileType, file: Blob, options: CallOptions): Promise<ImportResult> {
    const pieces = Math.max(1, Math.ceil(file.size / CHARACTERS_AT_ONCE));
    return send(type, file, 0, { ...options, timeoutMs: (options.timeoutMs ?? timeoutMs) * pieces }, '?dryRun=true');
  }

  function send(
    type: FileType,
    body: string | Blob,
    linesBefore: number,
    options: CallOptions,
    query = '',
  ): Promise<ImportResult> {
    const sent = { headers: { 'content-type': type }, body, isRepeatable: true } as const;
    return requestJson({ ...options, method: 'POST', path: `/plants/import${query}`, ...sent }, (report) =>
      toImportResult(report, linesBefore),
    );
  }
}

function noPlants(): ImportResult {
  return { created: 0, replayed: 0, failed: 0, errors: [] };
}

function copyOf(result: ImportResult): ImportResult {
  return { ...result, errors: [...result.errors] };
}

function add(result: ImportResult, part: ImportResult): void {
  result.created += part.created;
  result.replayed += part.replayed;
  result.failed += part.failed;
  result.errors.push(...part.errors);
}

function printLines(plants: NewPlant[], start: number): string[] {
  const lines: string[] = [];
  let characters = 0;
  for (const plant of plants.slice(start, start + MAX_ERRORS_LISTED)) {
    const line = printJson(plant);
    lines.push(line);
    characters += line.length;
    if (characters >= CHARACTERS_AT_ONCE) break;
  }
  return lines;
}
