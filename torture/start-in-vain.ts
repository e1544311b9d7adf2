// A server that is to refuse its start.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** It hangs. */
const ENDS_WITHIN_MS = 60_000;

/** Gives null as status, where it had to be ended. The wrapper stands before the command line. */
export async function startInVain(
  launcher: string,
  databaseUrl: string,
  wrapper: string[] = [],
): Promise<{ status: number | null; stderr: string }> {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: databaseUrl };
  const [command = '', ...args] = [...wrapper, process.execPath, launcher, 'serve'];
  const child = spawn(command, args, { env });
  child.stdout.once('data', () => child.kill('SIGKILL')); // it listens
  const tooLong = setTimeout(() => child.kill('SIGKILL'), ENDS_WITHIN_MS);
  const [[status], stderr] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
  clearTimeout(tooLong);
  return { status, stderr };
}
