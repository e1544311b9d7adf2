// The dry runs of the command import, which check a file against the database or a server and store nothing.

import { accessSync, constants, createWriteStream, mkdtempSync, openAsBlob, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Config } from '../config/config.ts';
import type { Format } from '../domain/names.ts';
import type { ImportResult } from '../domain/plant.ts';
import type { DryRun } from '../domain/store.ts';
import type { CommandContext } from './command-io.ts';
import { withExistingStore } from './database-access.ts';
import { type ServerOptions, withClient } from './remote.ts';

const TYPES = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const;

/** Runs `work` on a dry run of the database. */
export function withDryRun<T>(config: Config, work: (dryRun: DryRun) => Promise<T>): Promise<T> {
  return withExistingStore(config, async (store) => {
    const dryRun = store.openDryRun();
    try {
      return await work(dryRun);
    } finally {
      dryRun.close();
    }
  });
}

export interface CheckedInput {
  format: Format;
  chunks: Readable;
  /** Path of a plain file. Any other input is first copied to a temporary file. */
  path: string | undefined;
}

/** Checks the whole input on a server in one request, so that the server finds an id that occurs twice. */
export function checkOnServer(
  context: CommandContext,
  server: ServerOptions,
  { format, chunks, path }: CheckedInput,
  signal: AbortSignal,
): Promise<ImportResult> {
  const options = { type: TYPES[format], dryRun: true, signal };
  return withClient(context, server, { isRead: true }, async (client) => {
    if (path !== undefined) {
      chunks.destroy();
      accessSync(path, constants.R_OK); // its error has the reason
      return client.importFile(await openAsBlob(path), options);
    }
    const folder = mkdtempSync(join(tmpdir(), 'plant-store-import-'));
    try {
      const copy = join(folder, 'plants');
      await pipeline(chunks, createWriteStream(copy, { mode: 0o600 }));
      return await client.importFile(await openAsBlob(copy), options);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
