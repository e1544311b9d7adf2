// The command serve, which runs the service as a process: signals, banner and exit status.

import packageJson from '../../package.json' with { type: 'json' };
import { OWN_COMMAND } from '../config/command-name.ts';
import { SETTINGS } from '../config/settings.ts';
import { SCOPES } from '../domain/names.ts';
import type { Service } from '../service/start-service.ts';
import type { CommandContext, CommandIo, Output } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { endBySignal } from './interrupt.ts';

/** Time after which a stopping process kills itself, even if the disk does not respond. */
export const STOP_WITHIN_MS = 9500;
/** Interval at which a process that npm started checks if its parent has ended. */
const ORPHAN_CHECK_MS = 500;
/** Time within which a second signal counts as the first: timeout(1) signals both the process and its group. */
export const ECHO_MS = 500;

export function declareServe(command: CliCommand): void {
  command
    .notes(`
All settings come from the environment. "plant-store settings" lists them.
The first start on a terminal creates a token with all scopes and prints it.`)
    .examples(
      'plant-store serve',
      'PORT=8080 DATABASE_URL=sqlite:/var/lib/plant-store/plants.db plant-store serve',
      'DATABASE_URL=postgres://plants:secret@db.example.com/plants plant-store serve',
    )
    .runs(serve);
}

async function serve({ io, config }: CommandContext): Promise<void> {
  const [{ createLog }, { startService }, { TIMEOUTS }] = await Promise.all([
    import('../observability/log.ts'),
    import('../service/start-service.ts'),
    import('../http/core/timeouts.ts'),
  ]);
  const observe = createLog(config.logLevel, OWN_COMMAND);
  io.on('uncaughtException', (error: Error) => {
    observe({ kind: 'bug', error });
    process.exit(1);
  });
  let stoppingSinceMs: number | undefined;
  let service: Service | undefined;
  const terminal = findTerminal(io);
  for (const signal of terminal ? (['SIGTERM', 'SIGINT', 'SIGHUP'] as const) : (['SIGTERM', 'SIGINT'] as const)) {
    io.on(signal, () => {
      if (service === undefined) endBySignal(signal);
      else if (isImpatient()) killNow();
      else void stop(signal, 0);
    });
  }
  const starting = startService(config, { observe, onFailure: () => stop('the store failed', 1) });
  service = await starting;
  const { url, store, isFirstStart } = service;
  if (config.startedByNpm) onOrphaned(() => stop('npm ended', 0));
  if (terminal) terminal.write(await welcome());
  else if (isFirstStart) observe({ kind: 'no_token' });

  async function welcome(): Promise<string> {
    const { describeDatabase } = await import('../config/config.ts');
    const { issueToken } = await import('../domain/token.ts');
    const { toSafeLines } = await import('../lib/safe-text.ts');
    const first = isFirstStart
      ? await issueToken(store, { name: 'first', scopes: [...SCOPES], expiresMs: null }, Date.now())
      : undefined;
    return toSafeLines(banner(url, describeDatabase(config.database), first?.secret));
  }

  function isImpatient(): boolean {
    return stoppingSinceMs !== undefined && performance.now() - stoppingSinceMs > ECHO_MS;
  }

  async function stop(reason: string, exitStatus: number): Promise<void> {
    if (stoppingSinceMs !== undefined) return;
    stoppingSinceMs = performance.now();
    setTimeout(killNow, STOP_WITHIN_MS).unref();
    if (exitStatus !== 0) setTimeout(() => process.exit(exitStatus), TIMEOUTS.lastRequestsMs).unref(); // the store has failed
    await (await starting).stop(reason);
    process.exit(exitStatus);
  }
}

/** Returns the text that a start prints on a terminal. `firstSecret` is set only at the first start. */
function banner(url: string, database: string, firstSecret: string | undefined): string {
  const tokenLine = firstSecret
    ? `\n  Token      ${firstSecret}\n             All scopes. This secret is shown only once: store it now.`
    : '';
  const isDefault = firstSecret !== undefined || database === SETTINGS.DATABASE_URL.default;
  const createLine = firstSecret ? '' : `\n  TOKEN=$(${OWN_COMMAND} token create --name me)`;
  return `
  Plant Store ${packageJson.version}

  Address    ${url}
  Console    ${url}/
  Docs       ${url}/docs
  Database   ${database}${tokenLine}

  Store a plant${isDefault ? '' : ', in a terminal with the same DATABASE_URL'}:
${createLine}
  curl -w '\\n' "${url}/plants" -H "Authorization: Bearer ${firstSecret ?? '$TOKEN'}" -H "Content-Type: application/json" -d '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}'

  Press Ctrl-C to stop.

`;
}

/** Kills the process. process.exit() would wait for the writer thread and the disk. Commits survive the signal. */
function killNow(): void {
  process.kill(process.pid, 'SIGKILL');
}

/**
 * Returns the output that is a terminal, if any. A secret is printed only there: piped output ends up in a file.
 * Under nohup no output is a terminal, and the process ignores SIGHUP.
 */
function findTerminal({ stdout, stderr }: CommandIo): Output | undefined {
  return [stdout, stderr].find(({ isTTY }) => isTTY);
}

/** Calls back when the parent has ended. A signal to npm ends the shell in between, which does not forward it. */
function onOrphaned(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, ORPHAN_CHECK_MS).unref();
}
