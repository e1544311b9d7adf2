// npm run torture: every fault in its full form, one after the other, and a table of what came of it.

import { globSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { globalSetup, globalTeardown } from '../testing/setup.ts';
import { type Outcome, printOutcomes } from './outcome.ts';

const HELP = `Usage: npm run torture -- [options] [fault...]

Runs each fault against the real process, and the controls that show that the trial can fail.

Options:
  --short      as "npm run test:long" does it, in seconds instead of minutes
  --seed N     the same random choices again (default: random, and printed)
  --out FILE   write the table to a file, too
  --list       the names of the faults

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
for (const name of chosen) if (!NAMES.includes(name)) refuse(`There is no fault "${name}": --list names all`);
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
if (!/^\d{1,10}$/.test(seed)) refuse(`--seed takes a whole number, not "${seed}"`);

process.env.TORTURE_FORM = values.short ? 'short' : 'full';
process.env.TORTURE_SEED = seed;
console.log(`${chosen.length} faults, ${values.short ? 'short' : 'full'} form, seed ${seed}\n`);
await globalSetup(); // the PostgreSQL that all share
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
const outcomes: Outcome[] = [];
for (const name of chosen) {
  if (ended.signal.aborted) break;
  process.stdout.write(`${name.padEnd(26)} `);
  const outcome = await torture(name);
  outcomes.push(outcome);
  console.log(`${outcome.verdict}  ${outcome.seen}`);
  if (values.out) writeFileSync(values.out, printOutcomes(outcomes)); // so that one that is ended early leaves what it has
}
await globalTeardown();
const table = printOutcomes(outcomes);
console.log(`\n${table}`);
const [failed, skipped] = (['FAILED', 'skipped'] as const).map((verdict) =>
  outcomes.filter((outcome) => outcome.verdict === verdict),
);
if (skipped?.length) console.log(`Not tried: ${skipped.map(({ fault }) => fault).join(', ')}`);
console.log(failed?.length ? `FAILED: ${failed.map(({ fault }) => fault).join(', ')}` : 'Nothing has failed');
process.exit(failed?.length ? 1 : 0);

async function torture(name: string): Promise<Outcome> {
  const startMs = performance.now();
  const said: Record<string, string> = {};
  const failures: string[] = [];
  const controls = { caught: 0, of: 0 };
  let fault = name;
  let mark = '';
  let skip: string | undefined;
  const files = [join(import.meta.dirname, 'faults', `${name}.test.ts`)];
  for await (const { type, data } of run({ files, execArgv: ['--test-force-exit'], signal: ended.signal })) {
    if (type === 'test:diagnostic' && data.nesting > 0) {
      const [, word = '', text = ''] = /^(\w+): (.*)/s.exec(data.message) ?? [];
      if (!(word in said)) said[word] = text;
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    if (data.nesting === 0) fault = data.name;
    if (data.nesting === 0 && type === 'test:pass') continue;
    const isControl = data.name.startsWith('control: ');
    if (data.nesting === 1 && isControl) {
      controls.of++;
      if (type === 'test:pass' && data.skip === undefined) controls.caught++;
    }
    if (data.nesting === 1) mark ||= data.name; // the first one is the trial
    if (type === 'test:fail') failures.push(`${isControl ? `${data.name}: ` : ''}${reasonOf(data.details.error)}`);
    else if (!isControl && typeof data.skip === 'string') skip = data.skip;
  }
  const verdict = failures.length > 0 ? 'FAILED' : skip !== undefined ? 'skipped' : 'passed';
  const seen = failures[0] ?? skip ?? said.seen ?? '';
  const seconds = (performance.now() - startMs) / 1000;
  return { fault, mark, rounds: said.rounds ?? '', seed: said.seed ?? '', seen, verdict, controls, seconds };
}

/** Of a failed test, behind what the runner wraps around it. */
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
    return refuse((error as Error).message);
  }
}

function refuse(message: string): never {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}
