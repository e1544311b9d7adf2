// Many plants into the store, for the client: those of a program, or a file of any length, piece by piece.

import type { ImportResult, NewPlant } from '../domain/plant.ts';
import { printJson } from '../lib/exact-json.ts';
import { cutFile } from './file-pieces.ts';
import type { CallOptions, Requester } from './request.ts';
import { toImportResult } from './response.ts';

/** The answer names no more errors than that. */
const MAX_ERRORS_NAMED = 1000;
/** So that a slow line gets it through in time. */
const CHARACTERS_AT_ONCE = 1024 * 1024;

export type FileType = 'application/x-ndjson' | 'text/csv';

export interface ImportProgress {
  /** Of the file, so many are done. */
  bytes: number;
  totalBytes: number;
  /** So far. */
  result: ImportResult;
}

export interface ImportFileOptions extends CallOptions {
  type: FileType;
  onProgress?: ((progress: ImportProgress) => void) | undefined;
}

export interface Imports {
  import(plants: NewPlant[], options?: CallOptions): Promise<ImportResult>;
  /**
   * The file in pieces of about 1 MiB, each sent again where that is needed. Lines are those of the file, and the first
   * 1,000 errors are named. What throws has stored what came before: to import the file again is safe.
   */
  importFile(file: Blob, options: ImportFileOptions): Promise<ImportResult>;
}

export function createImports({ requestJson }: Requester): Imports {
  return {
    async import(plants, options) {
      const result = noPlants();
      for (let done = 0; done < plants.length; ) {
        const lines = printLines(plants, done);
        add(result, await send('application/x-ndjson', lines.join('\n'), done, options));
        done += lines.length;
      }
      return result;
    },
    async importFile(file, { type, onProgress, ...options }) {
      const result = noPlants();
      for await (const { body, linesBefore, bytes } of cutFile(file, type === 'text/csv')) {
        add(result, await send(type, body, linesBefore, options));
        result.errors.length = Math.min(result.errors.length, MAX_ERRORS_NAMED);
        onProgress?.({ bytes, totalBytes: file.size, result: { ...result, errors: [...result.errors] } });
      }
      return result;
    },
  };

  function send(
    type: FileType,
    body: string | Blob,
    linesBefore: number,
    options: CallOptions | undefined,
  ): Promise<ImportResult> {
    const sent = { headers: { 'content-type': type }, body, isRepeatable: true } as const;
    return requestJson({ ...options, method: 'POST', path: '/plants/import', ...sent }, (report) =>
      toImportResult(report, linesBefore),
    );
  }
}

function noPlants(): ImportResult {
  return { created: 0, replayed: 0, failed: 0, errors: [] };
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
  for (const plant of plants.slice(start, start + MAX_ERRORS_NAMED)) {
    const line = printJson(plant);
    lines.push(line);
    characters += line.length;
    if (characters >= CHARACTERS_AT_ONCE) break;
  }
  return lines;
}
