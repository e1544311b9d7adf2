// The command line as people and scripts use it: with pipes, or on a terminal of a given width, which `script` makes.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { LAUNCHER } from './server.ts';

export interface Run {
  status: number | null;
  stdout: string;
  stderr: string;
}

export type Environment = Record<string, string>;

export async function piped(args: string[], env: Environment = {}): Promise<Run> {
  return collect(spawn(process.execPath, [LAUNCHER, ...args], { env: { PATH: process.env.PATH, ...env } }));
}

/** Both streams in one, with the line ends of a file. */
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
  return { status: child.exitCode, stdout: stdout.join(''), stderr: stderr.join('') };
}

/** Waits until each of the texts has been shown before it types what goes with it. Gives all that was shown. */
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
