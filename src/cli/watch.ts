// plant-store watch: the change log of a running server as it grows. Ctrl-C is how it is meant to end.

import type { Change, PlantStoreClient } from '../client/client.ts';
import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { readCount } from './parse-arguments.ts';
import { type ServerOptions, urlOption, withServer } from './remote.ts';
import { jsonLine, wantsJson, writeOut } from './terminal/report.ts';

const DEFAULT_WIDTH = 80;

interface WatchOptions extends ServerOptions {
  after?: string;
  json?: boolean;
}

export function declareWatch(command: CliCommand): void {
  command
    .option('--after <seq>', 'first those that came after this one; 0 is all there are (default: only new ones)')
    .addOption(urlOption())
    .option('--json', 'as JSON, a change a line, which is the default when piped')
    .notes(`
When the server goes away it waits until it is back, and goes on where it was:
none is left out.`)
    .examples(
      'plant-store watch',
      'plant-store watch --after 1042',
      'plant-store watch | jq --unbuffered -r \'select(.type == "plant.deleted") | .plant.id\'',
    )
    .runs(watchChanges);
}

async function watchChanges(context: CommandContext, options: WatchOptions): Promise<void> {
  const { io } = context;
  const { stdout, stderr } = io;
  const wanted = options.after === undefined ? undefined : readCount('--after', options.after, 0);
  const isJson = wantsJson(stdout, options);
  const { toSafeText } = await import('../lib/safe-text.ts');
  const { describeChange } = await import('./terminal/plant-table.ts');
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM']) io.once(signal, () => stop.abort());
  stdout.once('error', () => stop.abort()); // its reader has gone, which only a write finds out
  let isFollowing = false;
  let isLost = false;

  const follow = async (client: PlantStoreClient, url: string) => {
    const after = await firstResponse(client);
    isFollowing = true;
    if (wanted === undefined) say(`Watching ${url} for changes after ${after}; Ctrl-C ends it`);
    await writeOut(stdout, printed(client.follow({ after, signal: stop.signal })));
  };
  await withServer(context, options, follow, { isRead: true, fetch: watchedFetch }).catch((error) => {
    if (!stop.signal.aborted) throw error;
  });

  async function* printed(changes: AsyncIterable<Change>): AsyncGenerator<string> {
    for await (const change of changes) {
      yield isJson ? jsonLine(stdout, change) : describeChange(change, stdout.columns || DEFAULT_WIDTH, stdout);
    }
  }

  /** The client reconnects by itself; somebody who looks on should know. */
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

  function say(words: string): void {
    if (stderr.isTTY) stderr.write(`${toSafeText(words)}\n`);
  }

  /** Finds what is wrong from the start, since following never ends by itself. Returns the number to begin after. */
  async function firstResponse(client: PlantStoreClient): Promise<number> {
    if (wanted !== undefined) {
      await client.changes({ after: wanted, limit: 1 }, { signal: stop.signal });
      return wanted;
    }
    const snapshot = await client.export({ signal: stop.signal }); // it alone tells the number of now
    snapshot.close();
    return snapshot.seq;
  }
}
