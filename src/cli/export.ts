// plant-store export FILE: all plants at one moment into a file, which is there only when it is whole.

import { createWriteStream, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../config/config.ts';
import type { Format } from '../domain/names.ts';
import type { NewPlant } from '../domain/plant.ts';
import { printPlants } from '../files/plant-files.ts';
import { toSafeJson, toSafeLines, toSafeText } from '../lib/safe-text.ts';
import { UserError } from '../lib/user-error.ts';
import { requireDatabase, withPlants } from './database-access.ts';
import { chooseFormat } from './format-option.ts';
import type { TransferOptions } from './import.ts';
import { onInterrupt } from './interrupt.ts';
import { READS } from './remote.ts';
import { type Progress, startProgress } from './terminal/progress.ts';
import { report } from './terminal/report.ts';
import { writeOut } from './terminal/write-out.ts';

export async function exportFile(config: Config, file: string, options: TransferOptions): Promise<void> {
  const format = chooseFormat(file, options.format);
  if (options.url === undefined) requireDatabase(config);
  await withPlants(config, options.url, READS, async (store) => {
    const snapshot = await store.export();
    const progress = startProgress('Exporting', await snapshot.count?.());
    let count = 0;
    try {
      const texts = printPlants(format, counted(snapshot.plants));
      if (file === '-') await writeOut(process.stdout.isTTY ? shown(texts, format) : texts);
      else await writeFile(texts, file, progress);
    } finally {
      snapshot.close();
      progress.stop();
    }
    if (file !== '-') report(`${count.toLocaleString('en')} plants exported to ${file}`, { file, plants: count });

    async function* counted(plants: AsyncIterable<NewPlant>): AsyncGenerator<NewPlant> {
      for await (const plant of plants) {
        if (++count % 1000 === 0) progress.update(count, count);
        yield plant;
      }
    }
  });
}

/** On a terminal somebody looks at it: what was in a name must not control it. */
async function* shown(texts: AsyncIterable<string>, format: Format): AsyncGenerator<string> {
  for await (const text of texts) yield format === 'ndjson' ? toSafeJson(text) : toSafeLines(text);
}

/** A pipe or a device is written to as it is. */
async function writeFile(texts: AsyncIterable<string>, givenFile: string, progress: Progress): Promise<void> {
  const file = existsSync(givenFile) ? realpathSync(givenFile) : givenFile;
  const present = statSync(file, { throwIfNoEntry: false });
  const isPlain = present?.isFile() ?? true;
  const draft = isPlain ? `${file}.part` : file;
  const removeDraft = () => {
    if (isPlain) rmSync(draft, { force: true });
  };
  onInterrupt(() => {
    progress.stop();
    removeDraft();
    process.stderr.write(`Stopped: ${toSafeText(givenFile)} is not written\n`);
  });
  try {
    removeDraft();
    const own = { flags: 'wx', mode: present?.mode ?? 0o666 }; // never through a link; for nobody more than before
    await pipeline(texts, createWriteStream(draft, { flush: isPlain, ...(isPlain && own) }));
    if (isPlain) renameSync(draft, file);
  } catch (error) {
    removeDraft();
    if ((error as NodeJS.ErrnoException).syscall) {
      throw new UserError(`Cannot write ${givenFile}: ${(error as Error).message}`);
    }
    throw error;
  }
}
