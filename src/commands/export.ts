// plant-store export FILE: all plants at one moment into a file, which is there only when it is whole.

import { createWriteStream, renameSync, rmSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../config.ts';
import { printPlants } from '../format.ts';
import type { NewPlant } from '../plant.ts';
import { Refusal } from '../refusal.ts';
import { chooseFormat } from './format-option.ts';
import type { TransferOptions } from './import.ts';
import { requireDatabase, withPlants } from './open.ts';
import { type Progress, startProgress } from './progress.ts';

export async function exportFile(config: Config, file: string, options: TransferOptions): Promise<void> {
  const format = chooseFormat(file, options.format);
  if (options.url === undefined) requireDatabase(config);
  await withPlants(config, options.url, async (store) => {
    const snapshot = await store.export();
    const progress = startProgress('Exporting', snapshot.count?.());
    try {
      const texts = printPlants(format, counted(snapshot.plants, progress));
      if (file === '-') await writeOut(texts);
      else await writeWhole(texts, file);
    } finally {
      snapshot.close();
      progress.stop();
    }
  });
}

async function* counted(plants: AsyncIterable<NewPlant>, progress: Progress): AsyncGenerator<NewPlant> {
  let count = 0;
  for await (const plant of plants) {
    if (++count % 1000 === 0) progress.update(count, count);
    yield plant;
  }
}

async function writeWhole(texts: AsyncIterable<string>, file: string): Promise<void> {
  const draft = `${file}.part`;
  process.once('SIGINT', () => {
    rmSync(draft, { force: true });
    process.exit(130);
  });
  try {
    await pipeline(texts, createWriteStream(draft, { flush: true }));
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    if ((error as NodeJS.ErrnoException).syscall)
      throw new Refusal(`Cannot write ${file}: ${(error as Error).message}`);
    throw error;
  }
}

/** A reader that goes away, such as `head`, is no error. */
async function writeOut(texts: AsyncIterable<string>): Promise<void> {
  await pipeline(texts, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
