import { after, suite } from 'node:test';
import { withDeadline } from '../src/lib/deadline.ts';
import { cleanUpFile } from './clean-up.ts';
import { type Group, quickTests } from './test-files.ts';

const IMPORT_MS = 120_000;

/** Declares the tests of all files of a group, one file after the other. Starting Node takes longer than most files. */
export function importTests(group: Group): void {
  for (const file of quickTests()[group]) {
    suite(file, async () => {
      after(cleanUpFile);
      await withDeadline(import(`../${file}`), IMPORT_MS, () => {
        throw new Error(`Importing ${file} took over ${IMPORT_MS / 1000} s`); // Node limits the time of tests and hooks only.
      });
    });
  }
}
