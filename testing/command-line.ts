// Runs the command line as people and scripts do: in this process, with pipes or a terminal of a given width; in a process
// of its own; and on a real terminal, created by `script`. None has HOME, so that none reads the profiles of a developer.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { WriteStream } from 'node:tty';
import type { CommandIo, Output } from '../src/cli/command-io.ts';
import { runCommand } from '../src/cli/run.ts';
import { OWN_COMMAND } from '../src/config/command-name.ts';
import { LAUNCHER } from './server.ts';

export interface Run {
  status: number | null;
  stdout: string;
  /** Standard error without the line in `using`. */
  stderr: string;
  /** The first line, if it names the server or the database. */
  using?: string;
}

/** Pattern of the command that messages recommend. It has quotes if the path of the checkout has blanks. */
export const ADVISED_COMMAND = RegExp.escape(OWN_COMMAND);

/** The line that names the store, also where it is wrapped. */
const USING =
  /^Using\sthe\s(server|database)\s\S+(\s\(profile\s"[^"]*"\))?\.((\sPLANT_STORE_TOKEN\sselects\sno\sserver\.)?\sTo\suse\s[^.]*\.)?\n/;

export type Environment = Record<string, string>;

export interface InProcessOptions {
  env?: Environment;
  input?: Iterable<string | Uint8Array> | AsyncIterable<string>;
  /** Width of the terminal for both outputs. By default they are pipes. */
  columns?: number;
  /** True if standard output is a pipe even with `columns`, as in `$(…)`. */
  isCaptured?: boolean;
  /** Emits signals to the command. */
  signals?: EventEmitter;
}

/** Runs a command in this process, at a tenth of the cost of a new one. */
export async function runInProcess(
  args: string[],
  { env = {}, input = [], columns, isCaptured = false, signals = new EventEmitter() }: InProcessOptions = {},
): Promise<Run> {
  const run = { status: 0, stdout: '', stderr: '' };
  const output = (name: 'stdout' | 'stderr'): Output => {
    const stream = new Writable({
      decodeStrings: false,
      write(chunk, _encoding, done) {
        run[name] += chunk;
        done();
      },
    });
    const getColorDepth = () => WriteStream.prototype.getColorDepth.call(stream, env);
    const isPipe = columns === undefined || (isCaptured && name === 'stdout');
    return isPipe ? stream : Object.assign(stream, { isTTY: true, columns, getColorDepth });
  };
  const io: CommandIo = Object.assign(signals, {
    env,
    stdin: Readable.from(input, { objectMode: false }),
    stdout: output('stdout'),
    stderr: output('stderr'),
  });
  run.status = await runCommand(args, io);
  return splitUsing(run);
}

/** Runs a command in a process of its own. */
export async function piped(args: string[], env: Environment = {}): Promise<Run> {
  return collect(spawn(process.execPath, [LAUNCHER, ...args], { env: { PATH: process.env.PATH, ...env } }));
}

/** Both streams in one, with `\n` as line end. */
export async function onTerminal(args: string[], env: Environment = {}, columns = 80): Promise<string> {
  const words = [process.execPath, LAUNCHER, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
  const child = spawn('script', ['-qec', `stty cols ${columns}; ${words.join(' ')}`, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
  });
  return (await collect(child)).stdout.replaceAll('\r\n', '\n');
}

async function collect(child: ChildProcessWithoutNullStreams): Promise<Run> {
  child.stdin.end();
  const [stdout, stderr] = await Promise.all([child.stdout.toArray(), child.stderr.toArray(), once(child, 'close')]);
  return splitUsing({ status: child.exitCode, stdout: stdout.join(''), stderr: stderr.join('') });
}

function splitUsing(run: Run): Run {
  const [using] = USING.exec(run.stderr) ?? [];
  if (using === undefined) return run;
  return { ...run, stderr: run.stderr.slice(using.length), using: using.replaceAll('\n', ' ').trim() };
}

/** Waits until each text is on the terminal before it types the keys for it. Returns everything that was shown. */
export async function typeInto(
  command: string,
  env: Environment,
  steps: [shown: string, typed: string][],
): Promise<string> {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
  });
  let all = '';
  let seen = 0;
  for await (const chunk of child.stdout) {
    all += chunk;
    for (let [step] = steps; step !== undefined && all.indexOf(step[0], seen) !== -1; [step] = steps) {
      seen = all.indexOf(step[0], seen) + step[0].length;
      child.stdin.write(step[1]);
      steps.shift();
    }
  }
  return all;
}
