// The command serve, which runs the service as a process: options, signals, banner and exit status.

import { isatty } from 'node:tty';
import { setFlagsFromString } from 'node:v8';
import { Option } from 'commander';
import { OWN_COMMAND } from '../config/command-name.ts';
import type { Config, Override } from '../config/config.ts';
import type { SettingName } from '../config/settings.ts';
import { SCOPES } from '../domain/names.ts';
import { endBySignal } from '../lib/undo-at-end.ts';
import { UsageError } from '../lib/user-error.ts';
import type { Observe } from '../observability/service-events.ts';
import type { Service } from '../service/start-service.ts';
import type { CommandIo, Output } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { onStopSignal } from './interrupt.ts';

/** Time after which a stopping process kills itself, even if the disk does not respond. */
export const STOP_WITHIN_MS = 9500;
/** Time after which threads that listen have usually loaded all code of the first requests. */
const CODE_LOADED_MS = 1000;
/**
 * V8's flags for all threads while they serve requests, each with its default. A request is garbage when its response is
 * sent: V8 must not learn to allocate such objects among the old ones, where only a slower collection frees them. It
 * collects old objects when they have doubled, which saves up to 60 MiB.
 */
const SERVING_FLAGS: [serving: string, loading: string][] = [
  ['--no-allocation-site-pretenuring', '--allocation-site-pretenuring'],
  ['--heap-growing-percent=100', '--heap-growing-percent=0'],
];
/** Interval at which a process that npm started checks if its parent has ended. */
const ORPHAN_CHECK_MS = 500;

/** Options that take precedence over a variable, with their descriptions. */
const OVERRIDES: Partial<Record<SettingName, [option: string, value: string, description: string]>> = {
  PORT: ['--port', '<port>', 'port to listen on; 0 selects any free port (default: PORT, or 3000)'],
  HOST: ['--host', '<host>', 'address to listen on; 0.0.0.0 for all interfaces (default: HOST, or 127.0.0.1)'],
  DATABASE_URL: [
    '--database',
    '<url>',
    'sqlite:PATH or postgres://… (default: DATABASE_URL, or sqlite:./data/plants.db)',
  ],
  BACKUP_DIR: ['--backup-dir', '<folder>', 'folder for scheduled backups of a SQLite store (default: BACKUP_DIR)'],
  BACKUP_EVERY: ['--backup-every', '<time>', 'interval of these backups: 30m, 1h or 1d (default: BACKUP_EVERY, or 1h)'],
  BACKUP_KEEP: ['--backup-keep', '<n>', 'number of these backups to keep (default: BACKUP_KEEP, or 24)'],
};

type ServeOptions = Record<string, string | true | undefined>;

export function declareServe(command: CliCommand): void {
  for (const [option, value, description] of Object.values(OVERRIDES)) {
    command.option(`${option} ${value}`, description);
  }
  command
    .option('--requests', 'print a line for each request, as ACCESS_LOG=1 does')
    .option('--open', 'open the console in the browser')
    .notes(`
Other settings come from the environment. "plant-store settings" lists them.
Options take precedence. Other users of this machine can see them, so set
DATABASE_URL instead of --database if the URL has a password.
The first start on a terminal creates a token with all scopes and prints it.`)
    .examples(
      'plant-store serve',
      'plant-store serve --port 8080 --requests --open',
      'plant-store serve --backup-dir /var/backups/plants --backup-keep 24',
      'plant-store serve --host 0.0.0.0 --database sqlite:/var/lib/plants.db',
      'DATABASE_URL=postgres://plants:secret@db/plants plant-store serve',
    )
    .allowExcessArguments() // for a message about npm
    .action((options) => serve(command.io, options, command.args));
}

/** Returns the options that the user has set, as overrides of their variables. */
function readOverrides(options: ServeOptions): Override[] {
  const overrides = Object.entries(OVERRIDES).flatMap(([variable, [option]]) => {
    const value = options[new Option(option).attributeName()];
    return typeof value === 'string' ? [{ variable: variable as SettingName, option, value }] : [];
  });
  return options.requests ? [...overrides, { variable: 'ACCESS_LOG', option: '--requests', value: '1' }] : overrides;
}

async function serve(io: CommandIo, options: ServeOptions, args: string[]): Promise<void> {
  if (args.length > 0) {
    throw new UsageError('serve has options, but no arguments. npm needs -- before options: npm start -- --port 3001');
  }
  const { readConfig } = await import('../config/config.ts');
  const config = readConfig(io.env, readOverrides(options));
  const [{ createLog }, { startService }, { TIMEOUTS }] = await Promise.all([
    import('../observability/log.ts'),
    import('../service/start-service.ts'),
    import('../http/core/timeouts.ts'),
  ]);
  const log = createLog(config.logLevel, OWN_COMMAND);
  io.on('uncaughtException', (error: Error) => {
    log({ kind: 'bug', error });
    process.exit(1);
  });
  const parent = process.ppid; // it can end before the server is ready
  let isStopping = false;
  let exitStatus = 0;
  let service: Service | undefined;
  let settingFlags: NodeJS.Timeout | undefined;
  const terminal = findTerminal(io);
  const signals: NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
  if (terminal || isatty(0)) signals.push('SIGHUP');
  else io.on('SIGHUP', () => {}); // nohup had it ignored, which Node has undone
  onStopSignal(io, signals, (signal) => (service === undefined ? endBySignal(signal) : void stop(signal, 0)), killNow);
  const observe: Observe = (event) => {
    log(event);
    if (event.kind === 'threads_listening') {
      settingFlags = setTimeout(() => setServingFlags(true), CODE_LOADED_MS).unref();
    }
  };
  const starting = startService(config, { observe, onFailure: () => stop('the store failed', 1) });
  service = await starting;
  if (config.startedByNpm) onOrphaned(parent, () => stop('the parent process ended', 0));
  if (terminal) terminal.write(await welcome(service, config, terminal));
  else if (service.isFirstStart) {
    const { databaseOption } = await import('./terminal/banner.ts');
    log({ kind: 'no_token', option: databaseOption(config) });
  }
  if (options.open) (await import('./open-browser.ts')).openBrowser(`${service.url}/`, io);

  async function stop(reason: string, status: number): Promise<void> {
    exitStatus = Math.max(exitStatus, status); // the store can also fail during a stop
    if (isStopping) return;
    isStopping = true;
    setTimeout(killNow, STOP_WITHIN_MS).unref();
    if (exitStatus !== 0) setTimeout(() => process.exit(exitStatus), TIMEOUTS.lastRequestsMs).unref(); // the store has failed
    clearTimeout(settingFlags);
    setServingFlags(false);
    await (await starting).stop(reason).catch((error) => {
      if (exitStatus === 0) throw error; // otherwise, the store has reported its failure
    });
    process.exit(exitStatus);
  }
}

/** Returns the banner for a terminal. At the first start, it creates the first token and shows it. */
async function welcome(
  { url, store, isFirstStart, isNewStore }: Service,
  config: Config,
  terminal: Output,
): Promise<string> {
  const [{ toBanner }, { issueToken }] = await Promise.all([
    import('./terminal/banner.ts'),
    import('../domain/token.ts'),
  ]);
  const first = isFirstStart
    ? await issueToken(store, { name: 'first', scopes: [...SCOPES], expiresMs: null }, Date.now())
    : undefined;
  return toBanner({ url, config, isNewStore, readyMs: performance.now(), firstSecret: first?.secret }, terminal);
}

/**
 * Sets V8's flags for serving requests, or its defaults. With other flags than the defaults, V8 uses no code from the
 * cache, and caches no code that a next start can use.
 */
function setServingFlags(isServing: boolean): void {
  for (const [serving, loading] of SERVING_FLAGS) setFlagsFromString(isServing ? serving : loading);
}

/** Kills the process. process.exit() would wait for the writer thread and the disk. Commits survive the signal. */
function killNow(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Returns the output that is a terminal, if any. A secret is printed only there: piped output ends up in a file. */
function findTerminal({ stdout, stderr }: CommandIo): Output | undefined {
  return [stdout, stderr].find(({ isTTY }) => isTTY);
}

/** Calls back when the parent has ended. A signal to npm ends the shell in between, which does not forward it. */
function onOrphaned(parent: number, callback: () => void): void {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, ORPHAN_CHECK_MS).unref();
}
