// The commands changes list, which prints the change log of a server, and changes prune, which removes its oldest changes
// and keeps the records.

import type { ChangePageQuery, Pruned } from '../client/client.ts';
import { CHANGE_TYPES } from '../domain/names.ts';
import { parseDuration, readDuration } from '../lib/duration.ts';
import { UsageError } from '../lib/user-error.ts';
import { type StoreOptions, withStore } from './choose-store.ts';
import type { CommandContext } from './command-io.ts';
import { type CliCommand, FixedOption } from './declare.ts';
import { allOption, limitOption, type PageOptions, printChanges } from './pages.ts';
import { readOneOf } from './parse-arguments.ts';
import { countOf, report } from './terminal/report.ts';

interface ListOptions extends PageOptions {
  type?: string;
  token?: string;
  since?: string;
  until?: string;
  desc?: true;
}

export function declareChanges(command: CliCommand): void {
  const changes = command.examples('plant-store changes list --desc', 'plant-store changes prune --older-than 90d');

  changes
    .subcommand('list', 'list the changes on a running server, oldest first')
    .addOption(
      new FixedOption('--type <type>', 'only plant.created, plant.updated or plant.deleted', [...CHANGE_TYPES]),
    )
    .option('--token <id>', 'only changes by this token: tok_…, cli, or jwt: and a subject')
    .option('--since <time>', 'only changes since a time, 2026-11-17T09:00:00Z, or an age, 24h')
    .option('--until <time>', 'only changes until a time or an age')
    .option('--desc', 'newest first')
    .addOption(limitOption('changes'))
    .addOption(allOption('changes'))
    .serverOptions()
    .printsJsonOrTable('change')
    .notes(`
To print new changes as they happen, use "watch". To list the changes of one
plant, use "history".`)
    .examples(
      'plant-store changes list --desc --limit 20',
      'plant-store changes list --type plant.deleted --since 24h',
      "plant-store changes list --all --token tok_… | jq -r '.plant.id'",
    )
    .runs(listChanges);

  changes
    .subcommand('prune', 'remove old changes from the change log; the records stay')
    .requiredOption('--older-than <time>', 'age of the changes to remove: 30m, 12h, 90d or 4w (required)')
    .storeOptions()
    .notes(`
Sequence numbers are never reused. Clients that request pruned changes receive
error 41000 (410) and must start over with a new export.`)
    .examples('plant-store changes prune --older-than 90d')
    .runs(pruneChanges);
}

async function listChanges(context: CommandContext, options: ListOptions): Promise<void> {
  const nowMs = Date.now();
  const { type, token, since, until, desc } = options;
  const query: ChangePageQuery = {
    type: type === undefined ? undefined : readOneOf('--type', type, CHANGE_TYPES),
    token,
    sinceMs: await readTime('--since', since, nowMs),
    untilMs: await readTime('--until', until, nowMs),
    order: desc ? 'desc' : 'asc',
  };
  await printChanges<number>(context, options, (client, seq, limit) =>
    client.changePage({ ...query, limit, ...(desc ? { before: seq } : { after: seq }) }),
  );
}

/** Returns a time in RFC 3339, or the time before the given age, in milliseconds since 1970. */
async function readTime(option: string, text: string | undefined, nowMs: number): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const { isTime } = await import('../domain/time.ts');
  const ageMs = parseDuration(text);
  if (ageMs !== undefined) return nowMs - ageMs;
  if (isTime(text)) return Date.parse(text);
  throw new UsageError(
    `${option} must be a time such as 2026-11-17T09:00:00Z, or an age such as 24h, not ${JSON.stringify(text)}`,
  );
}

async function pruneChanges(context: CommandContext, options: StoreOptions & { olderThan: string }): Promise<void> {
  const { olderThan } = options;
  readDuration('--older-than', olderThan);
  await withStore(context, options, {
    onServer: async (client) => print(await client.prune({ olderThan })),
    async onDatabase(store) {
      const { prune } = await import('../domain/change.ts');
      print(await prune(store, { olderThan }, Date.now()));
    },
  });

  function print(result: Pruned): void {
    report(context.io.stdout, `${countOf(result.pruned, 'change')} pruned.`, result);
  }
}
