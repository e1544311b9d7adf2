// Runs commands of the build under test.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

const TIMEOUT_MS = 60_000;

export interface RunOptions {
  env?: Record<string, string>;
  /** Command prefix. */
  wrapper?: string[];
}

/** Runs a command. The status is null if the command was killed because its server listens, or because it hung. */
export async function runBuild(launcher: string, args: string[], { env, wrapper = [] }: RunOptions = {}) {
  const [command = '', ...rest] = [...wrapper, process.execPath, launcher, ...args];
  const child = spawn(command, rest, { env: { PATH: process.env.PATH, PORT: '0', ...env } });
  child.stdout.on('data', (chunk) => args[0] === 'serve' && chunk.includes('"url":') && child.kill('SIGKILL'));
  const tooLong = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const [[status], stdout, stderr] = await Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]);
  clearTimeout(tooLong);
  return { status: status as number | null, stdout, stderr };
}

/** Runs a command that must succeed, and returns its standard output. */
export async function runCommand(launcher: string, args: string[], env: Record<string, string>): Promise<string> {
  const { status, stdout, stderr } = await runBuild(launcher, args, { env });
  assert.equal(status, 0, `${args[0]} exited with status ${status}: ${stderr}`);
  return stdout;
}
