// What tests leave behind ends here, also after a failed test or a signal: a server that still runs would keep the run from
// ending, and slow down the tests that follow.

import { after } from 'node:test';

type CleanUp = () => void | Promise<void>;

const ofFile: CleanUp[] = [];
const ofProcess: CleanUp[] = [];

after(cleanUpProcess);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await cleanUpProcess();
    process.exit(1);
  });
}

/** Registers what runs at the end of the test file, before everything that was registered earlier. */
export function atEndOfFile(cleanUp: CleanUp): void {
  ofFile.unshift(cleanUp);
}

/** Registers what runs after all test files of this process. */
export function atEndOfProcess(cleanUp: CleanUp): void {
  ofProcess.unshift(cleanUp);
}

export async function cleanUpFile(): Promise<void> {
  await runAll(ofFile.splice(0));
}

async function cleanUpProcess(): Promise<void> {
  await runAll([...ofFile.splice(0), ...ofProcess.splice(0)]);
}

async function runAll(cleanUps: CleanUp[]): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error); // what is left must end all the same
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `Cleaning up failed: ${failures.join('; ')}`);
}
