// plant-store watch: the change log of a running server as it grows. Ctrl-C is how it is meant to end.

import type { Change, PlantStoreClient } from '../client/client.ts';
import type { Config } from '../config/config.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { readCount } from './numbers.ts';
import { READS, type ServerOptions, withServer } from './remote.ts';
import { describeChange } from './terminal/plant-table.ts';
import { jsonLine, wantsJson } from './terminal/report.ts';
import { writeOut } from './terminal/write-out.ts';

const USUAL_WIDTH = 80;

interface WatchOptions extends ServerOptions {
  after?: string;
  json?: boolean;
}

export async function watchChanges(config: Config, options: WatchOptions): Promise<void> {
  const wanted = options.after === undefined ? undefined : readCount('--after', options.after, 0);
  const isJson = wantsJson(options);
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
  process.stdout.once('error', () => stop.abort()); // its reader has gone, which only a write finds out
  let isFollowing = false;
  let isLost = false;

  await withServer(
    config,
    options,
    async (client, url) => {
      const after = await firstAnswer(client, wanted);
      isFollowing = true;
      say(wanted === undefined ? `Watching ${url} for changes after ${after}; Ctrl-C ends it` : undefined);
      await writeOut(printed(client.follow({ after, signal: stop.signal })));
    },
    { ...READS, fetch: watchedFetch },
  ).catch((error) => {
    if (!stop.signal.aborted) throw error;
  });

  async function* printed(changes: AsyncIterable<Change>): AsyncGenerator<string> {
    for await (const change of changes) {
      yield isJson ? jsonLine(change) : describeChange(change, process.stdout.columns || USUAL_WIDTH);
    }
  }

  /** The client connects again by itself; somebody who looks on should know. */
  async function watchedFetch(...args: Parameters<typeof fetch>): Promise<Response> {
    try {
      const response = await fetch(...args);
      if (isLost && response.ok) say('Connected again');
      isLost &&= !response.ok;
      return response;
    } catch (error) {
      if (isFollowing && !isLost && !stop.signal.aborted) say('The server is out of reach: waiting until it is back');
      isLost = isFollowing;
      throw error;
    }
  }

  function say(words: string | undefined): void {
    if (words !== undefined && process.stderr.isTTY) process.stderr.write(`${toSafeText(words)}\n`);
  }

  /** Following goes on whatever happens, so what is wrong from the start is found before. Gives where to begin. */
  async function firstAnswer(client: PlantStoreClient, after: number | undefined): Promise<number> {
    if (after !== undefined) {
      await client.changes({ after, limit: 1 }, { signal: stop.signal });
      return after;
    }
    const snapshot = await client.export({ signal: stop.signal }); // it alone tells the number of now
    snapshot.close();
    return snapshot.seq;
  }
}
