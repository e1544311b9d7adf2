// The command import, which creates plants from a file, in the database or on a server. A rerun skips stored plants.

import type { FileType, ImportProgress, PlantStoreClient } from '../client/client.ts';
import type { Format } from '../domain/names.ts';
import type { ImportError } from '../domain/plant.ts';
import type { Store } from '../domain/store.ts';
import type { Counts } from '../files/import-plants.ts';
import { END_SIGNALS } from '../lib/undo-at-end.ts';
import { UserError } from '../lib/user-error.ts';
import { type StoreOptions, withStore } from './choose-store.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { CLI } from './database-access.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { EXIT_STATUS } from './exit-status.ts';
import {
  COMMON_ENCODINGS,
  type CsvOptions,
  DELIMITER_NAMES,
  openInput,
  readCsvChoice,
  toPlainCsv,
  withBlob,
} from './import-input.ts';
import { onStopSignal, statusOfSignal } from './interrupt.ts';
import { chooseFormat, formatOption } from './parse-arguments.ts';
import { TRANSFER_RETRIES } from './remote.ts';
import { type Progress, startProgress } from './terminal/progress.ts';
import { countOf, report } from './terminal/report.ts';

const DELIMITER = 'CSV: comma, semicolon, tab or another character (default: recognised)';
const ENCODING = 'CSV: utf-8, windows-1252, utf-16le or another encoding (default: recognised)';
const TYPES: Record<Format, FileType> = { ndjson: 'application/x-ndjson', csv: 'text/csv' };
/** Extensions of files that Excel writes as text with tabs. */
const TEXT_ENDINGS = ['tsv', 'txt'];

interface ImportFileOptions extends StoreOptions, CsvOptions {
  format?: string;
  dryRun?: true;
}

export function declareImport(command: CliCommand): void {
  command
    .argument('<file>', 'NDJSON, or CSV with the header row id,name,tag; - is standard input')
    .addOption(formatOption())
    .addOption(new FixedOption('--delimiter <character>', DELIMITER, DELIMITER_NAMES))
    .addOption(new FixedOption('--encoding <name>', ENCODING, COMMON_ENCODINGS))
    .storeOptions()
    .option('--dry-run', 'check the file and compare it with the store, but store nothing')
    .notes(`
CSV from Excel (semicolons or tabs, Windows-1252 or UTF-16) is recognised and
converted. Standard error then says how the file is read.
Each line that fails is reported on standard error, and the exit status is 1.
After an interruption, run the command again: plants already stored are skipped.
A server reports the first 1,000 failed lines of each MiB, or with --dry-run, of
the file.`)
    .examples(
      'plant-store import species.csv',
      'plant-store import species.csv --dry-run',
      'plant-store import stock.csv --delimiter semicolon --encoding windows-1252',
      'zcat plants.ndjson.gz | plant-store import -',
      'plant-store import species.csv --url https://plants.example.com',
    )
    .runs(importFile);
}

async function importFile(context: CommandContext, file: string, options: ImportFileOptions): Promise<void> {
  const { io } = context;
  const { dryRun } = options;
  const format = chooseFormat(file, options.format, TEXT_ENDINGS);
  const choice = readCsvChoice(options, format);
  const input = openInput(file, io.stdin);
  const stop = new AbortController();
  onStopSignal(io, END_SIGNALS, (signal) => {
    stop.abort(signal);
    input.chunks.destroy(); // ends a pending read
  });
  let progress: Progress | undefined;
  let doneBytes = 0;
  let counts: Counts | undefined;
  let failure: unknown;
  try {
    const work = { onServer: importTo(sendFile), onDatabase: importTo(readFile) };
    await withStore(context, options, work, { isRead: dryRun === true, retries: TRANSFER_RETRIES });
  } catch (error) {
    if (!stop.signal.aborted) failure = toUserError(file, error);
  }
  progress?.stop();
  if (counts || !failure) reportCounts(io, counts ?? { created: 0, replayed: 0, failed: 0 }, dryRun);
  if (failure) throw failure;
  if (stop.signal.aborted) reportInterrupt(io, dryRun, stop.signal.reason);

  /** Returns work that shows its progress. */
  function importTo<S>(work: (store: S) => Promise<void>): (store: S) => Promise<void> {
    return (store) => {
      progress = startProgress(io.stderr, dryRun ? 'Checking' : 'Importing', input.file?.bytes);
      return work(store);
    };
  }

  async function readFile(store: Store): Promise<void> {
    const [{ readPlants }, { importPlants }] = await Promise.all([
      import('../files/plant-files.ts'),
      import('../files/import-plants.ts'),
    ]);
    using cleanUp = new DisposableStack();
    const dry = dryRun && cleanUp.adopt(store.openDryRun(), (opened) => opened.close());
    const blocks = readPlants(format, readPlain());
    await importPlants(dry ?? store, blocks, { by: CLI, signal: stop.signal, onError: printError, onStored: note });
  }

  async function sendFile(client: PlantStoreClient): Promise<void> {
    const sent = { type: TYPES[format], signal: stop.signal, onProgress } as const;
    if (!dryRun) await client.importFile(readPlain(), sent);
    else {
      const unchanged = format === 'ndjson' ? input : { ...input, file: undefined };
      await withBlob(unchanged, readPlain(), (blob) => client.importFile(blob, { ...sent, dryRun }));
    }
  }

  /** Yields the input as the server and the reader require it. */
  function readPlain(): AsyncIterable<Uint8Array> {
    const chunks = counted(input.chunks);
    return format === 'ndjson' ? chunks : toPlainCsv(chunks, choice, (line) => progress?.printLine(line));
  }

  function onProgress({ result, piece }: ImportProgress): void {
    for (const error of piece.errors) printError(error);
    const unlisted = piece.failed - piece.errors.length;
    if (unlisted > 0) progress?.printLine(`${countOf(unlisted, 'more line')} failed`);
    note(result);
  }

  function note({ created, replayed, failed }: Counts): void {
    counts = { created, replayed, failed };
    progress?.update(doneBytes, created + replayed + failed);
  }

  function printError({ line, error }: ImportError): void {
    progress?.printLine(`Line ${line}: ${error.message}`);
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
  if (failed > 0) io.exitCode = EXIT_STATUS.failed;
}

function reportInterrupt(io: CommandIo, dryRun: true | undefined, signal: NodeJS.Signals): void {
  const state = dryRun ? 'Nothing was stored.' : 'All counted plants are stored. Run the command again to continue.';
  io.stderr.write(`Interrupted. ${state}\n`);
  io.exitCode = statusOfSignal(signal);
}

/** Returns an operating system error about the file as a UserError, and any other error unchanged. */
function toUserError(file: string, error: unknown): unknown {
  const { syscall, message } = error as NodeJS.ErrnoException;
  return syscall === undefined ? error : new UserError(`Cannot read ${file}: ${message}`);
}
