import { after, suite } from 'node:test';
import { cleanUpFile } from './clean-up.ts';
import { type Group, quickTests } from './test-files.ts';

/** Declares the tests of all files of a group, one file after the other: Node needs longer to start than most of them. */
export function importTests(group: Group): void {
  for (const file of quickTests()[group]) {
    suite(file, async () => {
      after(cleanUpFile);
      await import(`../${file}`);
    });
  }
}
