// A command line from its arguments to its exit status, in any process.

import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import { PlantStoreError } from '../domain/errors.ts';
import { UserError } from '../lib/user-error.ts';
import type { CommandIo } from './command-io.ts';
import { EXIT_STATUS, exitStatusOf } from './exit-status.ts';
import { createProgram } from './program.ts';

/** Runs a command and returns its exit status. The command `serve` returns as soon as the service has started. */
export async function runCommand(args: string[], io: CommandIo): Promise<number> {
  try {
    const named = args[0] === 'help' ? args[1] : args[0];
    const program = await createProgram(io, (name) => name === named || named === 'completion');
    await program.parseAsync(args, { from: 'user' });
    return Number(io.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return reportUsage(error, io);
    if (!(error instanceof UserError) && !(error instanceof PlantStoreError)) return reportBug(error, io);
    await printLines([`plant-store: ${error.message}`], io);
    return exitStatusOf(error);
  }
}

async function reportUsage({ exitCode, code, message }: CommanderError, io: CommandIo): Promise<number> {
  if (exitCode === 0) return 0;
  if (code !== 'commander.help') {
    const lines = message.replace(/^error: /, 'plant-store: ').split('\n');
    await printLines([...lines, 'Add --help to see how it is used'], io);
  }
  return EXIT_STATUS.wrongUsage;
}

/** Prints an error that nobody expected as Node does, but safely, and returns the exit status. */
export async function reportBug(error: unknown, io: CommandIo): Promise<number> {
  await printLines(inspect(error).split('\n'), io);
  return EXIT_STATUS.failed;
}

/** Prints lines that may quote a file, a server or an argument. */
async function printLines(lines: string[], io: CommandIo): Promise<void> {
  const { toSafeText } = await import('../lib/safe-text.ts');
  for (const line of lines) io.stderr.write(`${toSafeText(line)}\n`);
}
