// A command of the build under trial.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Both streams. Throws if it fails. */
export async function runCommand(launcher: string, args: string[], env: Record<string, string>): Promise<string> {
  const options = { env: { PATH: process.env.PATH, ...env } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [launcher, ...args], options);
  return stdout + stderr;
}
