// Runs a command of another program, such as git or npm, to its end.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { UserError } from '../src/lib/user-error.ts';

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** Number of lines of the output that an error quotes. */
const QUOTED_LINES = 20;

export interface CommandOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  timeout?: number;
}

/** Runs a command and returns its output. Throws a UserError with the end of the output if the command fails. */
export async function runCommand(command: string, args: string[], options: CommandOptions): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, {
      ...options,
      maxBuffer: MAX_OUTPUT_BYTES,
      killSignal: 'SIGKILL',
    });
    return stdout;
  } catch (error) {
    throw new UserError(`"${[command, ...args].join(' ')}" failed: ${reasonOf(error as CommandFailure)}`);
  }
}

interface CommandFailure extends Error {
  code?: string | number;
  killed?: boolean;
  stdout?: string;
  stderr?: string;
}

function reasonOf({ code, killed, stdout = '', stderr = '', message }: CommandFailure): string {
  if (code === 'ENOENT') return 'the command was not found';
  if (killed) return 'it took too long';
  const lines = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
  return lines.length === 0 ? message : lines.slice(-QUOTED_LINES).join('\n');
}
