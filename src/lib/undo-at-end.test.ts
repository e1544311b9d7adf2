import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { undoAtEnd } from './undo-at-end.ts';

const SELF = new URL('./undo-at-end.ts', import.meta.url).href;

/** Returns what a process prints that ends with the given code. */
function printedBy(end: string): string {
  const code = `
    const { undoAll, undoAtEnd } = await import('${SELF}');
    undoAtEnd(() => { throw new Error('fails'); });
    undoAtEnd(() => process.stdout.write('undone '));
    undoAtEnd(() => process.stdout.write('early '))();
    ${end}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }).stdout;
}

for (const [name, end] of [
  ['returns', ''],
  ['calls process.exit()', 'process.exit(3);'],
  ['throws', "setTimeout(() => { throw new Error('bug'); });"],
  ['is ended by a signal', "undoAll(); process.kill(process.pid, 'SIGTERM'); await new Promise(() => {});"],
] as [string, string][]) {
  test(`a process that ${name} undoes each thing once, even if one fails`, () => {
    assert.equal(printedBy(end), 'early undone ');
  });
}

test('a thing that is undone early reports its failure, and is not undone again', () => {
  let calls = 0;
  const undo = undoAtEnd(() => {
    calls++;
    throw new Error('no');
  });
  assert.throws(undo, /no/);
  undo();
  assert.equal(calls, 1);
});
