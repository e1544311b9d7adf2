// The command import, which creates plants from a file, in the database or on a server. A rerun skips stored plants.

import { createReadStream, statSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { ImportError, PlantStore } from '../domain/plant.ts';
import type { Counts } from '../files/import-plants.ts';
import { UserError } from '../lib/user-error.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { announceNewStore, CLI } from './database-access.ts';
import type { CliCommand } from './declare.ts';
import { INTERRUPTED } from './exit-status.ts';
import { checkOnServer, withDryRun } from './import-dry-run.ts';
import { onStopSignal } from './interrupt.ts';
import { chooseFormat, formatOption } from './parse-arguments.ts';
import { namesServer, type ServerOptions, withPlants } from './remote.ts';
import { startProgress } from './terminal/progress.ts';
import { countOf, report } from './terminal/report.ts';

const CHUNK_BYTES = 64 * 1024;

interface ImportFileOptions extends ServerOptions {
  format?: string;
  dryRun?: true;
}

export function declareImport(command: CliCommand): void {
  command
    .argument('<file>', 'NDJSON, or CSV with the header row id,name,tag; - is standard input')
    .addOption(formatOption())
    .serverOptions('import to this server (default: to the database)', 'import to the server of this profile')
    .option('--dry-run', 'check the file and compare it with the store, but store nothing')
    .notes(`
Each line that fails is reported on standard error, and the exit status is 1.
After an interruption, run the command again: plants already stored are skipped.
With --dry-run, a server reports the first 1,000 failed lines.`)
    .examples(
      'plant-store import species.csv',
      'plant-store import species.csv --dry-run',
      'zcat plants.ndjson.gz | plant-store import -',
      'plant-store import species.csv --url https://plants.example.com',
    )
    .runs(importFile);
}

async function importFile(context: CommandContext, file: string, options: ImportFileOptions): Promise<void> {
  const { io, config } = context;
  const { dryRun } = options;
  const isRemote = namesServer(options);
  const format = chooseFormat(file, options.format);
  const input = openInput(file, io);
  const stop = new AbortController();
  onStopSignal(io, ['SIGINT'], () => {
    stop.abort();
    input.chunks.destroy(); // ends a pending read
  });
  if (!isRemote && !dryRun) announceNewStore(io, config);
  const { readPlants } = await import('../files/plant-files.ts');
  const { importPlants } = await import('../files/import-plants.ts');
  const progress = startProgress(io.stderr, dryRun ? 'Checking' : 'Importing', input.bytes);
  let doneBytes = 0;
  let counts: Counts = { created: 0, replayed: 0, failed: 0 };
  try {
    if (dryRun && isRemote) await checkAll();
    else if (dryRun) await withDryRun(config, importInto);
    else await withPlants(context, options, { isRead: false }, importInto);
  } catch (error) {
    if (!stop.signal.aborted) throw toUserError(file, error);
  } finally {
    progress.stop();
  }
  reportCounts(io, counts, dryRun);
  if (stop.signal.aborted) reportInterrupt(io, dryRun);

  function importInto(store: Pick<PlantStore, 'import'>): Promise<unknown> {
    return importPlants(store, readPlants(format, counted(input.chunks), onIgnored), {
      by: CLI,
      signal: stop.signal,
      onError: printError,
      onStored(soFar) {
        counts = soFar;
        progress.update(doneBytes, soFar.created + soFar.replayed + soFar.failed);
      },
    });
  }

  async function checkAll(): Promise<void> {
    const path = input.bytes === undefined ? undefined : file;
    const checked = { format, chunks: input.chunks, path };
    const { errors, ...found } = await checkOnServer(context, options, checked, stop.signal);
    for (const error of errors) printError(error);
    if (found.failed > errors.length)
      progress.printLine(`${countOf(found.failed - errors.length, 'more line')} failed`);
    counts = found;
  }

  function printError({ line, error }: ImportError): void {
    progress.printLine(`Line ${line}: ${error.message}`);
  }

  function onIgnored(columns: string[]): void {
    progress.printLine(`Columns not imported: ${columns.join(', ')}`);
  }

  async function* counted(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      doneBytes += chunk.length;
      yield chunk;
    }
  }
}

function reportCounts(io: CommandIo, counts: Counts, dryRun: true | undefined): void {
  const { created, replayed, failed } = counts;
  const [imported, lost, end] = dryRun ? [' would be', ' would fail', ' Nothing was stored.'] : ['', ' failed', ''];
  const words = `${countOf(created, 'plant')}${imported} imported, ${replayed.toLocaleString('en')} already stored`;
  report(io.stdout, `${words}, ${countOf(failed, 'line')}${lost}.${end}`, counts);
  if (failed > 0) io.exitCode = 1;
}

function reportInterrupt(io: CommandIo, dryRun: true | undefined): void {
  const state = dryRun ? 'Nothing was stored.' : 'All counted plants are stored. Run the command again to continue.';
  io.stderr.write(`Interrupted. ${state}\n`);
  io.exitCode = INTERRUPTED;
}

function openInput(file: string, io: CommandIo): { chunks: Readable; bytes: number | undefined } {
  if (file === '-') return { chunks: io.stdin, bytes: undefined };
  const stat = statSync(file, { throwIfNoEntry: false });
  if (!stat) throw new UserError(`File not found: ${file}`);
  if (stat.isDirectory()) throw new UserError(`${file} is a folder, not a file`);
  return {
    chunks: createReadStream(file, { highWaterMark: CHUNK_BYTES }),
    bytes: stat.isFile() ? stat.size : undefined,
  };
}

/** Returns an operating system error about the file as a UserError, and any other error unchanged. */
function toUserError(file: string, error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error : new UserError(`Cannot read ${file}: ${message}`);
}
