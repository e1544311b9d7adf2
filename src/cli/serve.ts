// The service as a process: its signals, its banner and its exit status.

import packageJson from '../../package.json' with { type: 'json' };
import { OWN_COMMAND } from '../config/command-name.ts';
import { type Config, describeDatabase } from '../config/config.ts';
import { SCOPES } from '../domain/names.ts';
import { issueToken } from '../domain/token.ts';
import { TIMEOUTS } from '../http/core/timeouts.ts';
import { createLog } from '../observability/log.ts';
import { type Service, startService } from '../service/start-service.ts';
import { banner } from './banner.ts';

/** Time after which the process kills itself, whatever the disk is waiting for. */
const STOP_WITHIN_MS = 9500;
const ORPHAN_CHECK_MS = 500;
/**
 * Time within which a second signal is the echo of the first: some senders signal a process and its group, as timeout
 * does. A person needs longer to send a second one.
 */
const ECHO_MS = 500;

export async function serve(config: Config): Promise<void> {
  const observe = createLog(config.logLevel, OWN_COMMAND);
  process.on('uncaughtException', (error) => {
    observe({ kind: 'bug', error });
    process.exit(1);
  });
  let stoppingSinceMs: number | undefined;
  let service: Service | undefined;
  for (const signal of findTerminal() ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : ['SIGTERM', 'SIGINT']) {
    process.on(signal, () => {
      if (service === undefined) endBy(signal);
      else if (isImpatient()) killNow();
      else void stop(signal, 0);
    });
  }
  const starting = startService(config, { observe, onFailure: () => stop('the store failed', 1) });
  service = await starting;
  const { url, store, isFirstStart } = service;
  if (config.startedByNpm) onOrphaned(() => stop('npm ended', 0));
  const terminal = findTerminal();
  if (terminal) terminal.write(await welcome());
  else if (isFirstStart) observe({ kind: 'no_token' });

  async function welcome(): Promise<string> {
    const first = isFirstStart
      ? await issueToken(store, { name: 'first', scopes: [...SCOPES], expiresMs: null }, Date.now())
      : undefined;
    const { version } = packageJson;
    return banner({ version, url, database: describeDatabase(config.database), firstSecret: first?.secret });
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

/** Ends the process as the signal does where no handler is there. */
function endBy(signal: string): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** process.exit() would wait for the writer thread, and that for the disk. Every commit survives the signal. */
function killNow(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** A secret goes to a terminal only: piped output ends up in a file. Under nohup there is none, and SIGHUP means nothing. */
function findTerminal(): NodeJS.WriteStream | undefined {
  return [process.stdout, process.stderr].find((stream) => stream.isTTY);
}

/** A signal to npm ends the shell between npm and this process, and the shell does not pass it on. */
function onOrphaned(callback: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, ORPHAN_CHECK_MS).unref();
}
