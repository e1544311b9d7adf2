// Declares a fault as a test: the trial, which must pass, and its controls, which are the same trial on builds with a
// safeguard off, and must fail. `npm run test:long` runs the short form, `npm run torture` the full one.

import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { LAUNCHER, type ServerOptions, startServer, type TestServer } from '../testing/server.ts';
import { assertFits, type Change, makeBrokenBuild } from './broken-build.ts';
import { createRandom, type Random } from './random.ts';

const IS_FULL = process.env.TORTURE_FORM === 'full';
const SEED = Number(process.env.TORTURE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const TIMEOUT_MS = IS_FULL ? 30 * 60_000 : 140_000;

export interface Fault {
  name: string;
  /** What must hold. */
  mark: string;
  rounds: { short: number; full: number; of: string };
  /** Why it cannot be tried here. */
  skip?: string | undefined;
  /** Throws an AssertionError if the mark is missed. Gives what was seen, in a few words. */
  trial(trial: Trial): Promise<string>;
  /** By what is wrong with the build. */
  controls: Record<string, Control>;
}

export interface Trial {
  t: TestContext;
  rounds: number;
  isFull: boolean;
  seed: number;
  random: Random;
  /** Of the build that is tried: for commands, and for what startServer() cannot do. */
  launcher: string;
  startServer(options?: ServerOptions): Promise<TestServer>;
}

/** A build with one safeguard disabled, or with one fault planted, on which the trial must fail. */
export interface Control {
  /** The edit of the source that makes the build, or `changes` where it takes several. */
  change?: Change;
  changes?: Change[];
  /** Matches the message with which the trial must fail. */
  caught: RegExp;
  /** Number of rounds, where those of the short form are too few to catch it. */
  rounds?: number;
  /** True if the short form runs it, too. Of the others it only checks that they still fit the source. */
  inShort?: boolean;
}

export function fault({ name, mark, rounds, skip, trial, controls }: Fault): void {
  const count = IS_FULL ? rounds.full : rounds.short;
  const options = { timeout: TIMEOUT_MS, ...(skip !== undefined && { skip: `SKIPPED: ${skip}` }) };

  suite(name, { concurrency: 1 }, () => {
    test(mark, options, async (t) => {
      t.diagnostic(`rounds: ${count.toLocaleString('en')} ${rounds.of}`);
      t.diagnostic(`seed: ${SEED}`);
      t.diagnostic(`seen: ${await trial(prepare(t, count, LAUNCHER))}`);
    });

    const skipped = Object.entries(controls).filter(([, { inShort }]) => !IS_FULL && !inShort);
    if (skipped.length > 0) {
      test('every control still fits the source', () => {
        for (const [, control] of skipped) assertFits(changesOf(control));
      });
    }
    for (const [build, control] of Object.entries(controls)) {
      if (!IS_FULL && !control.inShort) continue;
      test(`control: ${build}`, options, async (t) => {
        const launcher = makeBrokenBuild(changesOf(control), t);
        const failure = await trial(prepare(t, control.rounds ?? rounds.short, launcher)).then(
          (seen) => assert.fail(`The trial has passed: ${seen}`),
          (error: Error) => error,
        );
        assert.match(failure.message, control.caught);
      });
    }
  });
}

function changesOf({ change, changes = [] }: Control): Change[] {
  return change ? [change, ...changes] : changes;
}

function prepare(t: TestContext, rounds: number, launcher: string): Trial {
  return {
    t,
    rounds,
    isFull: IS_FULL,
    seed: SEED,
    random: createRandom(SEED),
    launcher,
    startServer: (options) => startServer({ ...options, launcher }),
  };
}
