// The command watch, which prints changes from a server as they happen, until Ctrl-C.

import type { Change, PlantStoreClient } from '../client/client.ts';
import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { onStopSignal } from './interrupt.ts';
import { readCount } from './parse-arguments.ts';
import type { ServerOptions } from './profiles/choose-server.ts';
import { withServer } from './remote.ts';
import { type FormOptions, jsonLine, wantsJson, writeOut } from './terminal/report.ts';

interface WatchOptions extends ServerOptions, FormOptions {
  after?: string;
}

export function declareWatch(command: CliCommand): void {
  command
    .option('--after <seq>', 'start after this change; 0 prints all changes (default: new changes only)')
    .serverOptions()
    .printsJsonOrTable('change')
    .notes(`
If the connection is lost, the command reconnects and resumes without a gap.`)
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
  onStopSignal(io, ['SIGINT', 'SIGTERM'], () => stop.abort());
  stdout.once('error', () => stop.abort()); // the reader has ended, which only a write detects
  let isFollowing = false;
  let isLost = false;

  const follow = async (client: PlantStoreClient, url: string) => {
    const after = await firstResponse(client);
    isFollowing = true;
    if (wanted === undefined) printLine(`Watching ${url} for changes after ${after}. Press Ctrl-C to stop.`);
    await writeOut(stdout, printed(client.follow({ after, signal: stop.signal })));
  };
  await withServer(context, options, follow, { isRead: true, fetch: watchedFetch }).catch((error) => {
    if (!stop.signal.aborted) throw error;
  });

  async function* printed(changes: AsyncIterable<Change>): AsyncGenerator<string> {
    for await (const change of changes) {
      yield isJson ? jsonLine(change) : describeChange(change, stdout);
    }
  }

  /** Fetches for the client, which reconnects automatically, and reports lost and restored connections. */
  async function watchedFetch(...args: Parameters<typeof fetch>): Promise<Response> {
    try {
      const response = await fetch(...args);
      if (isLost && response.ok) printLine('Reconnected.');
      isLost &&= !response.ok;
      return response;
    } catch (error) {
      if (isFollowing && !isLost && !stop.signal.aborted) printLine('Connection lost. Reconnecting.');
      isLost = isFollowing;
      throw error;
    }
  }

  function printLine(words: string): void {
    if (stderr.isTTY) stderr.write(`${toSafeText(words)}\n`);
  }

  /** Returns the change number to start after. It detects errors early, because following retries without end. */
  async function firstResponse(client: PlantStoreClient): Promise<number> {
    if (wanted !== undefined) {
      await client.changes({ after: wanted, limit: 1 }, { signal: stop.signal });
      return wanted;
    }
    return client.lastSeq({ signal: stop.signal });
  }
}
