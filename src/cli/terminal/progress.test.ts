import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { startProgress } from './progress.ts';

function createOutput(isTTY: boolean) {
  let written = '';
  const stream = new Writable({
    write(text, _encoding, done) {
      written += text;
      done();
    },
  });
  return { output: Object.assign(stream, { isTTY }), text: () => written.replaceAll('\x1b', 'ESC') };
}

test('a bar shows the percentage, count, rate and remaining time, and is erased at the end', async () => {
  const { output, text } = createOutput(true);
  const progress = startProgress(output, 'Copying', 1000, { unit: 'row' });
  await sleep(120); // the bar is drawn at most ten times per second
  progress.update(500, 5000);
  progress.update(600, 6000);
  progress.printLine('Line 7: \x1b[2J');
  progress.stop();
  progress.stop();
  assert.match(
    text(),
    /^ESC\[\?25lESC\[\?7l\rESC\[KCopying -{30} 0 % \| 0 rows \| 0\/s \| \? left\rESC\[KCopying ={15}-{15} 50 % \| 5,000 rows \| [\d,]+\/s \| \d+ s left\rESC\[KLine 7: \\x1b\[2J\n\rESC\[KESC\[\?7hESC\[\?25h$/,
  );
});

test('without a total, the bar has no percentage and no remaining time', async () => {
  const { output, text } = createOutput(true);
  const progress = startProgress(output, 'Exporting', undefined);
  await sleep(120); // the bar is drawn at most ten times per second
  progress.update(1, 1);
  assert.match(text(), /\rESC\[KExporting 0 plants \| 0\/s\rESC\[KExporting 1 plant \| \d+\/s$/);
});

test('without a terminal, no output moves the cursor', () => {
  const { output, text } = createOutput(false);
  const progress = startProgress(output, 'Importing', 100);
  progress.update(50, 5);
  progress.printLine('Line 1: wrong');
  progress.stop();
  assert.equal(text(), 'Line 1: wrong\n');
});
