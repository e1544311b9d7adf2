// argv → command. Every command is loaded when it is asked for, so that the others cost it nothing.

import { CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { createProgram } from './commands/program.ts';
import { PlantStoreError } from './error.ts';
import { Refusal } from './refusal.ts';

try {
  await createProgram(packageJson.version).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2; // it has printed its message itself
  } else if (error instanceof Refusal || error instanceof PlantStoreError) {
    process.stderr.write(`plant-store: ${error.message}\n`);
    process.exit(error instanceof Refusal ? error.exitStatus : 1);
  } else {
    throw error;
  }
}
