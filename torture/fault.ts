// Declares a fault as a test: the trial, which must pass, and its controls, which are the same trial on builds with a
// safeguard off, and must fail. `npm test` runs the short form, `npm run torture` the full one.

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
  controls: Control[];
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

export interface Control {
  /** The build is one without this, or with this fault in it. */
  build: string;
  changes: Change[];
  /** What the trial must then say. */
  caught: RegExp;
  /** Until it is caught, where the short form's are too few. */
  rounds?: number;
  /** In the short form of others it is only seen that they still fit the source. */
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

    for (const { build, changes, caught, rounds: ownCount = rounds.short, inShort } of controls) {
      if (!IS_FULL && !inShort) {
        test(`the source still has what is taken out of: ${build}`, () => assertFits(changes));
        continue;
      }
      test(`control: ${build}`, options, async (t) => {
        const launcher = makeBrokenBuild(changes, t);
        const failure = await trial(prepare(t, ownCount, launcher)).then(
          (seen) => assert.fail(`The trial has passed: ${seen}`),
          (error: Error) => error,
        );
        assert.match(failure.message, caught);
      });
    }
  });
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
