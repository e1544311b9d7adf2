// Runs one command line, prints its errors, and returns its exit status.

import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { OWN_COMMAND } from '../config/command-name.ts';
import { PlantStoreError } from '../domain/errors.ts';
import { UserError } from '../lib/user-error.ts';
import { findCommandHint } from './command-hints.ts';
import type { CommandIo } from './command-io.ts';
import { EXIT_STATUS, exitStatusOf } from './exit-status.ts';
import { createProgram } from './program.ts';

/** Runs a command and returns its exit status. For `serve`, it returns once the service has started. */
export async function runCommand(args: string[], io: CommandIo): Promise<number> {
  try {
    const named = args[0] === 'help' ? args[1] : args[0];
    const program = await createProgram(io, (name) => name === named || named === 'completion');
    await program.parseAsync(args, { from: 'user' });
    return Number(io.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return reportUsage(error, args, io);
    const failure = failureOfFile(error) ?? error;
    if (!(failure instanceof UserError) && !(failure instanceof PlantStoreError)) return reportBug(failure, io);
    await printError(`plant-store: ${withOwnCommand(failure.message)}`, io);
    return exitStatusOf(failure);
  }
}

/** Returns an error for the user if a call of the operating system on a file has failed, such as EACCES of a path. */
function failureOfFile(error: unknown): UserError | undefined {
  const { code, message, path, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || path === undefined || syscall === undefined) return undefined;
  const [, reason = code] = /^\w+: ([^,]+)/.exec(message) ?? [];
  return new UserError(`Cannot access ${path}: ${reason}`);
}

/** Returns the message with this process's command in place of "plant-store". Storage does not know the command. */
function withOwnCommand(message: string): string {
  return message.replace(/(?<=")plant-store(?= [a-z])/g, () => OWN_COMMAND);
}

async function reportUsage(
  { exitCode, code, message }: CommanderError,
  args: string[],
  io: CommandIo,
): Promise<number> {
  if (exitCode === 0) return 0;
  const hint = code === 'commander.unknownCommand' ? findCommandHint(args) : undefined;
  if (hint) await printError(`plant-store: ${hint}`, io);
  else if (code !== 'commander.help') {
    const text = message.replace(/^error: ./, (start) => `plant-store: ${start.slice(-1).toUpperCase()}`);
    const line = text
      .replace(/pst_\w+/gi, 'pst_…') // a secret that was passed to a wrong option
      .replace(/\n(?=\(Did you mean [^\n]*$)/, ' ')
      .replace(/\.$/, '');
    await printError(`${line}. Add --help to see the usage.`, io);
  }
  return EXIT_STATUS.wrongUsage;
}

/** Prints an unexpected error in Node's format, with control characters escaped, and returns the exit status. */
export async function reportBug(error: unknown, io: CommandIo): Promise<number> {
  const { toSafeLines } = await import('../lib/safe-text.ts');
  io.stderr.write(`${toSafeLines(inspect(error))}\n`);
  return EXIT_STATUS.failed;
}

/** Prints a message as one line. Its line feeds are escaped, because it can quote a file, a server or an argument. */
async function printError(message: string, io: CommandIo): Promise<void> {
  const { toSafeText } = await import('../lib/safe-text.ts');
  const { writeWords } = await import('./terminal/report.ts');
  writeWords(io.stderr, toSafeText(message));
}
