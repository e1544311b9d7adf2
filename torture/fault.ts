// Declares a fault as a test suite: a trial, which must pass, and its controls. A control runs the same trial on a
// build with a disabled safeguard, and must fail. `npm run test:long` runs the short form, `npm run torture` the full
// form.

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
  /** The condition that must hold, as a sentence for the results table. */
  mark: string;
  rounds: { short: number; full: number; of: string };
  /** The reason why this machine cannot run the trial, if any. */
  skip?: string | undefined;
  /** Returns a short summary of the observations. Throws an AssertionError if the mark does not hold. */
  trial(trial: Trial): Promise<string>;
  /** The controls, by a description of what is wrong with the build. */
  controls: Record<string, Control>;
}

export interface Trial {
  t: TestContext;
  rounds: number;
  isFull: boolean;
  seed: number;
  random: Random;
  /** Launcher of the build under test, for commands and for servers that startServer() cannot start. */
  launcher: string;
  startServer(options?: ServerOptions): Promise<TestServer>;
}

/** A build with a disabled safeguard or a planted bug, on which the trial must fail. */
export interface Control {
  /** The source edit that creates the build. Use `changes` for several edits. */
  change?: Change;
  changes?: Change[];
  /** Matches the message of the expected failure. */
  caught: RegExp;
  /** Number of rounds, if the short form has too few to catch the bug. */
  rounds?: number;
  /** True if the short form runs this control. For the others, it only checks that their edits still apply. */
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
          (seen) => assert.fail(`The trial passed: ${seen}`),
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
