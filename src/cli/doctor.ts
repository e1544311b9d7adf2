// The command doctor, which checks a store and its surroundings, and says what to do. It changes nothing.

import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import type { CheckResult, Status } from './doctor/finding.ts';
import { EXIT_STATUS } from './exit-status.ts';
import type { ServerOptions } from './profiles/choose-server.ts';
import { findServer } from './remote.ts';
import { type FormOptions, jsonLine, wantsJson } from './terminal/report.ts';

interface DoctorOptions extends ServerOptions, FormOptions {
  full?: true;
}

export function declareDoctor(command: CliCommand): void {
  command
    .serverOptions()
    .option('--full', 'check every page of a SQLite database above 64 MiB, too')
    .printsJsonOrTable('check')
    .notes(`
The command changes nothing and can run beside a server. Run it with the
settings of the server, as the same user. The exit status is 1 if a check finds
a problem, and 0 if there are only warnings.`)
    .examples(
      'plant-store doctor',
      'DATABASE_URL=postgres://plants:secret@127.0.0.1:5432/plants plant-store doctor',
      `plant-store doctor | jq -r 'select(.status == "problem") | .advice'`,
    )
    .runs(examine);
}

async function examine(context: CommandContext, options: DoctorOptions): Promise<void> {
  const { io } = context;
  const isJson = wantsJson(io.stdout, options);
  const { printResult, summarize } = await import('./doctor/print-results.ts');
  const statuses: Status[] = [];
  for await (const result of checkAll(context, options)) {
    statuses.push(result.status);
    io.stdout.write(isJson ? jsonLine(result) : printResult(result, io.stdout));
  }
  if (!isJson) io.stdout.write(`\n${summarize(statuses)}\n`);
  if (statuses.includes('problem')) io.exitCode = EXIT_STATUS.failed;
}

async function* checkAll(context: CommandContext, options: DoctorOptions): AsyncGenerator<CheckResult> {
  const { config } = context;
  const { database, backups: schedule } = config;
  const isGiven = options.url !== undefined || options.profile !== undefined;
  const { serverUrl } = config; // that of these settings, not that of a profile
  const ofSettings = serverUrl === undefined ? undefined : { url: serverUrl };
  const chosen = isGiven ? options : ofSettings;
  const server = chosen && (await findServer(context, chosen));
  const [{ runChecks, toProblem }, { SURROUNDINGS }, { checkServer }] = await Promise.all([
    import('./doctor/finding.ts'),
    import('./doctor/surroundings.ts'),
    import('./doctor/server.ts'),
  ]);
  yield* runChecks(SURROUNDINGS, config);
  let usesDatabase: boolean | undefined;
  try {
    if (database.kind === 'sqlite') {
      const { checkSqlite } = await import('./doctor/sqlite.ts');
      usesDatabase = yield* checkSqlite(database.path, { isFull: options.full === true, schedule });
    } else {
      const { checkPostgres } = await import('./doctor/postgres.ts');
      yield* checkPostgres(database);
    }
  } catch (error) {
    yield { check: 'database', ...toProblem(error) };
  }
  yield* runChecks({ server: checkServer }, { url: server?.url, token: server?.credential?.token, usesDatabase });
}
