import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '../random.ts';
import { judge, type Sample } from './flat.ts';

/** Returns samples of half an hour, with some noise. */
function samplesOf(memoryAt: (minute: number) => number, filesAt: (minute: number) => number): Sample[] {
  const random = createRandom(1);
  return Array.from({ length: 360 }, (_, n) => {
    const seconds = (n + 1) * 5;
    return {
      seconds,
      residentMib: memoryAt(seconds / 60) + random() * 20,
      files: Math.round(filesAt(seconds / 60) + random() * 10),
      answered: n,
      p99Ms: 1,
    };
  });
}

test('judge() accepts a server that warms up and then stays flat', () => {
  const { memory, files } = judge(
    samplesOf(
      (minute) => 150 - 60 * Math.exp(-minute),
      () => 80,
    ),
  );
  assert.deepEqual([memory.isFlat, files.isFlat], [true, true]);
});

test('judge() detects a leak of 1.5 MiB per minute, and of two files per minute', () => {
  const { memory, files } = judge(
    samplesOf(
      (minute) => 120 + 1.5 * minute,
      (minute) => 80 + 2 * minute,
    ),
  );
  assert.deepEqual([memory.isFlat, files.isFlat], [false, false]);
});

test('judge() accepts falling memory', () => {
  assert.equal(
    judge(
      samplesOf(
        (minute) => 200 - minute,
        () => 80,
      ),
    ).memory.isFlat,
    true,
  );
});
