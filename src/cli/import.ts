// plant-store import FILE: plants from a file into the database, or to a server. A second run goes on where the first
// one was stopped: what is there already is passed over.

import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { Config } from '../config/config.ts';
import { type Counts, importPlants } from '../files/import-plants.ts';
import { readPlants } from '../files/plant-files.ts';
import { UserError } from '../lib/user-error.ts';
import { CLI, newStorePath, withPlants } from './database-access.ts';
import { chooseFormat } from './format-option.ts';
import { WRITES } from './remote.ts';
import { startProgress } from './terminal/progress.ts';
import { report } from './terminal/report.ts';

const CHUNK_BYTES = 64 * 1024;

export interface TransferOptions {
  format?: string;
  url?: string;
}

export async function importFile(config: Config, file: string, options: TransferOptions): Promise<void> {
  const format = chooseFormat(file, options.format);
  const input = openInput(file);
  const stop = new AbortController();
  process.once('SIGINT', () => {
    stop.abort();
    input.chunks.destroy(); // it may be waiting for more
  }); // a second one ends it at once, which loses nothing either
  const newPath = options.url === undefined ? newStorePath(config) : undefined;
  if (newPath) process.stderr.write(`Making a new store at ${newPath}\n`);
  const progress = startProgress('Importing', input.bytes);
  let doneBytes = 0;
  let counts: Counts = { created: 0, replayed: 0, failed: 0 };
  try {
    await withPlants(config, options.url, WRITES, (store) =>
      importPlants(store, readPlants(format, counted(input.chunks), onIgnored), {
        by: CLI,
        signal: stop.signal,
        onError: ({ line, error }) => progress.say(`Line ${line}: ${error.message}`),
        onStored(soFar) {
          counts = soFar;
          progress.update(doneBytes, soFar.created + soFar.replayed + soFar.failed);
        },
      }),
    );
  } catch (error) {
    if (!stop.signal.aborted) throw toUserError(file, error);
  } finally {
    progress.stop();
  }
  const [news, olds, bads] = [counts.created, counts.replayed, counts.failed].map((count) =>
    count.toLocaleString('en'),
  );
  report(`${news} plants imported, ${olds} were there already, ${bads} lines failed`, counts);
  if (counts.failed > 0) process.exitCode = 1;
  if (stop.signal.aborted) {
    process.stderr.write('Stopped: what is counted here is stored; run it again to go on\n');
    process.exitCode = 130;
  }

  function onIgnored(columns: string[]): void {
    progress.say(`Columns that are not imported: ${columns.join(', ')}`);
  }

  async function* counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      doneBytes += chunk.length;
      yield chunk;
    }
  }
}

function openInput(file: string): { chunks: Readable; bytes: number | undefined } {
  if (file === '-') return { chunks: process.stdin, bytes: undefined };
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new UserError(`There is no file ${file}`);
  if (stat.isDirectory()) throw new UserError(`${file} is a folder`);
  return {
    chunks: createReadStream(file, { highWaterMark: CHUNK_BYTES }),
    bytes: stat.isFile() ? stat.size : undefined,
  };
}

/** What the system says about the file. */
function toUserError(file: string, error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error : new UserError(`Cannot read ${file}: ${message}`);
}
