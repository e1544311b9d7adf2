// The command export, which writes a consistent snapshot of all plants. The file appears only when it is complete.

import { createWriteStream, openSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Format } from '../domain/names.ts';
import type { NewPlant, PlantStore } from '../domain/plant.ts';
import { newDraftPath } from '../lib/draft-path.ts';
import { toSafeJson, toSafeLines } from '../lib/safe-text.ts';
import { undoAtEnd } from '../lib/undo-at-end.ts';
import { UserError } from '../lib/user-error.ts';
import { type StoreOptions, withStore } from './choose-store.ts';
import type { CommandContext, CommandIo, Output } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { onInterrupt } from './interrupt.ts';
import { chooseFormat, formatOption } from './parse-arguments.ts';
import { TRANSFER_RETRIES } from './remote.ts';
import { startProgress } from './terminal/progress.ts';
import { countOf, report, writeOut } from './terminal/report.ts';

export function declareExport(command: CliCommand): void {
  command
    .argument('<file>', 'file to write, once the export is complete; - is standard output')
    .addOption(formatOption())
    .storeOptions()
    .examples('plant-store export plants.csv', 'plant-store export - | gzip > plants.ndjson.gz')
    .runs(exportFile);
}

async function exportFile(
  context: CommandContext,
  file: string,
  options: StoreOptions & { format?: string },
): Promise<void> {
  const { io } = context;
  const format = chooseFormat(file, options.format);
  const { printPlants } = await import('../files/plant-files.ts');
  const work = { onServer: exportFrom, onDatabase: exportFrom };
  await withStore(context, options, work, { isRead: true, retries: TRANSFER_RETRIES });

  async function exportFrom(store: Pick<PlantStore, 'export'>): Promise<void> {
    const snapshot = await store.export();
    const isBar = file !== '-' && io.stderr.isTTY === true; // a bar would mix with the plants on the terminal
    const progress = startProgress(io.stderr, 'Exporting', await snapshot.count?.(), { isBar });
    let count = 0;
    try {
      const texts = printPlants(format, counted(snapshot.plants));
      if (file === '-') await writeOut(io.stdout, toSafeTexts(texts, format, io.stdout));
      else await writeFile(texts, file, io);
    } finally {
      snapshot.close();
      progress.stop();
    }
    if (file !== '-') {
      report(io.stdout, `${countOf(count, 'plant')} exported to ${file}.`, { file, plants: count });
    }

    async function* counted(plants: AsyncIterable<NewPlant>): AsyncGenerator<NewPlant> {
      for await (const plant of plants) {
        if (++count % 1000 === 0) progress.update(count, count);
        yield plant;
      }
    }
  }
}

/** Escapes characters that could control a terminal. A pipe receives CSV unchanged, because CSV has no escapes. */
async function* toSafeTexts(texts: AsyncIterable<string>, format: Format, { isTTY }: Output): AsyncGenerator<string> {
  const toSafe = format === 'ndjson' ? toSafeJson : isTTY ? toSafeLines : String;
  for await (const text of texts) yield toSafe(text);
}

/** Writes a draft and renames it when it is complete. Writes directly if the file is a pipe or a device. */
async function writeFile(texts: AsyncIterable<string>, givenFile: string, io: CommandIo): Promise<void> {
  const present = statSync(givenFile, { throwIfNoEntry: false });
  const isPlain = present?.isFile() ?? true;
  const file = present && isPlain ? realpathSync(givenFile) : givenFile; // a link stays, and its target changes
  const draft = isPlain ? newDraftPath(file) : file;
  const removeDraft = undoAtEnd(() => {
    if (isPlain) rmSync(draft, { force: true });
  });
  onInterrupt(io, `${givenFile} ${isPlain ? 'was not written' : 'is incomplete'}.`);
  try {
    // A draft follows no link, has the mode of the old file, and exists now, so that it can be removed at any time.
    const own = isPlain && { fd: openSync(draft, 'wx', present?.mode ?? 0o666) };
    await pipeline(texts, createWriteStream(draft, { flush: isPlain, ...own }));
    if (isPlain) renameSync(draft, file);
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).syscall) throw error;
    throw new UserError(`Cannot write ${givenFile}: ${(error as Error).message.replace(draft, file)}`);
  } finally {
    removeDraft();
  }
}
