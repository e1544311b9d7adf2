// npm run torture: runs every fault in its full form, one after another, and prints a table of the results.

import { globSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../testing/setup.ts';
import { type Outcome, printOutcomes } from './outcome.ts';

const HELP = `Usage: npm run torture -- [options] [fault...]

Injects each fault into a running server and checks that the pass mark holds.
Then runs the controls: builds with a disabled safeguard, on which the check must fail.

Options:
  --short      run the short form, as "npm run test:long" does (seconds instead of minutes per fault)
  --seed N     repeat the random choices of an earlier run (default: a random seed, which is printed)
  --out FILE   also write the results table to FILE, as Markdown
  --list       list the names of the faults and exit
  -h, --help   print this help and exit

Exit status: 0 if every fault passed or was skipped, 1 if a fault failed, 2 if the arguments are invalid.

Examples:
  npm run torture
  npm run torture -- process-killed power-cut
  npm run torture -- process-killed --seed 42
`;

const NAMES = globSync('*.test.ts', { cwd: join(import.meta.dirname, 'faults') })
  .map((file) => basename(file, '.test.ts'))
  .sort();

const { values, positionals } = readArguments();
if (values.help || values.list) {
  process.stdout.write(values.help ? HELP : `${NAMES.join('\n')}\n`);
  process.exit();
}
const chosen = positionals.length > 0 ? positionals : NAMES;
for (const name of chosen)
  if (!NAMES.includes(name)) exitWithUsage(`Unknown fault "${name}". Use --list to list all faults.`);
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
if (!/^\d{1,10}$/.test(seed)) exitWithUsage(`--seed must be an integer with at most 10 digits, not "${seed}"`);

process.env.TORTURE_FORM = values.short ? 'short' : 'full';
process.env.TORTURE_SEED = seed;
console.log(
  `${chosen.length} fault${chosen.length === 1 ? '' : 's'}, ${values.short ? 'short' : 'full'} form, seed ${seed}\n`,
);
await globalSetup(); // starts the PostgreSQL server that all faults share
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
const outcomes: Outcome[] = [];
for (const name of chosen) {
  if (ended.signal.aborted) break;
  for (const outcome of await torture(name)) {
    outcomes.push(outcome);
    console.log(`${name.padEnd(26)} ${outcome.verdict}  ${outcome.seen}`);
  }
  if (values.out) writeFileSync(values.out, printOutcomes(outcomes)); // so an aborted run leaves its partial results
}
await globalTeardown();
const table = printOutcomes(outcomes);
console.log(`\n${table}`);
const [failed, skipped] = (['FAILED', 'skipped'] as const).map((verdict) =>
  outcomes.filter((outcome) => outcome.verdict === verdict),
);
if (skipped?.length) console.log(`Skipped: ${skipped.map(({ fault }) => fault).join(', ')}`);
console.log(failed?.length ? `FAILED: ${failed.map(({ fault }) => fault).join(', ')}` : 'No fault failed');
process.exit(failed?.length ? 1 : 0);

/** Runs a fault file, and returns the outcome of each fault in it. */
async function torture(name: string): Promise<Outcome[]> {
  const files = [join(import.meta.dirname, 'faults', `${name}.test.ts`)];
  const found: Outcome[] = [];
  let current = startOutcome();
  for await (const { type, data } of run({ files, execArgv: ['--test-force-exit'], signal: ended.signal })) {
    if (type === 'test:diagnostic' && data.nesting > 0) {
      const [, word, text = ''] = /^(\w+): (.*)/s.exec(data.message) ?? [];
      if (word === 'rounds' || word === 'seed' || word === 'seen') current[word] ||= text;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const isFailed = type === 'test:fail';
    if (data.nesting === 1) note(current, data.name, isFailed ? reasonOf(data.details.error) : data.skip, isFailed);
    if (data.nesting > 0) continue;
    if (isFailed && current.verdict !== 'FAILED') note(current, data.name, reasonOf(data.details.error), true);
    found.push({ ...current, fault: data.name, seconds: (data.details.duration_ms ?? 0) / 1000 });
    current = startOutcome();
  }
  return found;
}

function startOutcome(): Outcome {
  const controls = { caught: 0, of: 0 };
  return { fault: '', mark: '', rounds: '', seed: '', seen: '', verdict: 'passed', controls, seconds: 0 };
}

/** Adds a test's result to the outcome. The first test is the trial. `reason` says why it failed or was skipped. */
function note(outcome: Outcome, name: string, reason: string | boolean | undefined, isFailed: boolean): void {
  const isControl = name.startsWith('control: ');
  outcome.mark ||= name;
  if (isControl) outcome.controls.of++;
  if (isControl && !isFailed && reason === undefined) outcome.controls.caught++;
  if (outcome.verdict === 'FAILED' || reason === undefined || (isControl && !isFailed)) return;
  outcome.verdict = isFailed ? 'FAILED' : 'skipped';
  outcome.seen = isControl ? `${name}: ${reason}` : String(reason);
}

/** Returns why a test failed, without the test runner's wrapper error. */
function reasonOf(error: Error): string {
  return (error.cause instanceof Error ? error.cause.message : (error.cause as string)) ?? error.message;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h' },
        list: { type: 'boolean' },
        out: { type: 'string' },
        seed: { type: 'string' },
        short: { type: 'boolean' },
      },
    });
  } catch (error) {
    return exitWithUsage((error as Error).message);
  }
}

function exitWithUsage(message: string): never {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}
