// Chooses the store of a command that works on a server or on a database, and prints which one it is. One rule for all of
// them: a server that an option, a variable or a saved profile selects; otherwise the database.

import { resolve } from 'node:path';
import type { PlantStoreClient } from '../client/client.ts';
import { type Config, type Database, describeDatabase, readConfig } from '../config/config.ts';
import type { Store } from '../domain/store.ts';
import { showUrl } from '../lib/describe-url.ts';
import type { CommandContext, CommandIo } from './command-io.ts';
import { withDatabase } from './database-access.ts';
import type { ChosenServer, ServerOptions } from './profiles/choose-server.ts';
import { findServer, type RemoteOptions, withChosenServer } from './remote.ts';
import { writeWords } from './terminal/report.ts';

/** Options that choose the store. They exclude each other. */
export interface StoreOptions extends ServerOptions {
  /** URL of the database. True if it is that of the settings. */
  database?: string | true;
}

/** What a command does with a store of each kind. */
interface StoreWork<T> {
  onServer(client: PlantStoreClient): Promise<T>;
  onDatabase(store: Store): Promise<T>;
}

/** Runs the work on the chosen store. */
export async function withStore<T>(
  context: CommandContext,
  options: StoreOptions,
  { onServer, onDatabase }: StoreWork<T>,
  remoteOptions: RemoteOptions = {},
): Promise<T> {
  const { io, config } = context;
  const server = options.database === undefined ? await findServer(context, options) : undefined;
  if (server?.isSelected) {
    writeWords(io.stderr, `Using the server ${nameOf(server)}.${noteOnDatabase(io, options)}`);
    return withChosenServer(server, config, onServer, remoteOptions);
  }
  const database = chooseDatabase(io, config, options);
  const name = database.kind === 'sqlite' ? resolve(database.path) : describeDatabase(database);
  writeWords(io.stderr, `Using the database ${name}.${noteOnToken(config, options)}`);
  return withDatabase(database, onDatabase);
}

function chooseDatabase({ env }: CommandIo, config: Config, { database }: StoreOptions): Database {
  if (typeof database !== 'string') return config.database;
  return readConfig(env, [{ variable: 'DATABASE_URL', option: '--database', value: database }]).database;
}

function nameOf({ url, credential }: ChosenServer): string {
  const source = credential?.source;
  return source?.kind === 'profile' ? `${showUrl(url)} (profile "${source.name}")` : showUrl(url);
}

/** Returns a sentence if the user may expect a server, because the token for one is set. It overrules the current profile. */
function noteOnToken({ clientToken }: Config, { database }: StoreOptions): string {
  if (clientToken === undefined || database !== undefined) return '';
  return ' PLANT_STORE_TOKEN selects no server. To use one, add --url or --profile.';
}

/** Returns a sentence if the user may expect the database of DATABASE_URL, which a variable or a profile has overruled. */
function noteOnDatabase({ env }: CommandIo, { url, profile }: ServerOptions): string {
  if (!env.DATABASE_URL || url !== undefined || profile !== undefined) return '';
  return ' To use the database in DATABASE_URL instead, add --database.';
}
