// argv → command. Every command is loaded when it is asked for, so that the others cost it nothing.

import { inspect } from 'node:util';
import { CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { exitStatusOf } from './cli/exit-status.ts';
import { createProgram } from './cli/program.ts';
import { PlantStoreError } from './domain/errors.ts';
import { UserError } from './lib/user-error.ts';

if (process.argv[2] !== 'serve') {
  process.stdout.on('error', endWithoutOutput); // a server goes on without its log
  process.on('uncaughtException', endWithBug); // a server logs it
}

try {
  await createProgram(packageJson.version).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    if (error.exitCode !== 0 && error.code !== 'commander.help') {
      for (const line of error.message.replace(/^error: /, 'plant-store: ').split('\n')) await say(line);
      await say('Add --help to see how it is used');
    }
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else if (error instanceof UserError || error instanceof PlantStoreError) {
    await say(`plant-store: ${error.message}`);
    process.exit(exitStatusOf(error));
  } else {
    await endWithBug(error);
  }
}

/** A message may hold the words of a file, of a server or of an argument. */
async function say(line: string): Promise<void> {
  const { toSafeText } = await import('./lib/safe-text.ts');
  process.stderr.write(`${toSafeText(line)}\n`);
}

/** As Node would, but for what strangers have put into the message. */
async function endWithBug(error: unknown): Promise<never> {
  process.off('uncaughtException', endWithBug); // if this fails, too, Node ends the process
  for (const line of inspect(error).split('\n')) await say(line);
  process.exit(1);
}

function endWithoutOutput({ code, message }: NodeJS.ErrnoException): void {
  if (code === 'EPIPE') return; // a reader that has enough
  process.stderr.write(`plant-store: Cannot write to standard output: ${message}\n`);
  process.exit(1);
}
