// Ends everything that tests start, also after a failed test or a signal. A server that still runs would keep the run
// from ending and slow down the tests that follow.

import { after } from 'node:test';

type CleanUp = () => void | Promise<void>;

/** Time after the last test within which the process must end. */
const END_MS = 60_000;

const ofFile: CleanUp[] = [];
const ofProcess: CleanUp[] = [];

after(cleanUpProcess);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await cleanUpProcess();
    process.exit(1);
  });
}

/** Registers a clean-up for the end of the test file. The one that was registered last runs first. */
export function atEndOfFile(cleanUp: CleanUp): void {
  ofFile.unshift(cleanUp);
}

/** Registers a clean-up for the end of this process, after all its test files. */
export function atEndOfProcess(cleanUp: CleanUp): void {
  ofProcess.unshift(cleanUp);
}

export async function cleanUpFile(): Promise<void> {
  await runAll(ofFile.splice(0));
}

async function cleanUpProcess(): Promise<void> {
  failUnlessEnded();
  await runAll([...ofFile.splice(0), ...ofProcess.splice(0)]);
}

/** Ends a process that an open handle of a test keeps alive. Node would wait for it forever. */
function failUnlessEnded(): void {
  const fail = () => {
    console.error(`Still open ${END_MS / 1000} s after the last test: ${process.getActiveResourcesInfo().join(', ')}`);
    process.exit(1);
  };
  setTimeout(fail, END_MS).unref();
}

async function runAll(cleanUps: CleanUp[]): Promise<void> {
  const failures: unknown[] = [];
  for (const cleanUp of cleanUps) {
    try {
      await cleanUp();
    } catch (error) {
      failures.push(error); // The other clean-ups must run as well.
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `Cleaning up failed: ${failures.join('; ')}`);
}
