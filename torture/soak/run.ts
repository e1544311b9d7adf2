// npm run soak: a long mixed load at a limited rate. The server's memory and open files must stay flat.

import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { rssMibOf } from '../../bench/measure.ts';
import { RESULTS, savePicture } from '../../bench/picture.ts';
import { makeBenchFolder, startTokenedServer } from '../../bench/server.ts';
import { createRandom } from '../random.ts';
import { judge, type Level, type Sample } from './flat.ts';
import { MixedLoad } from './mixed-load.ts';
import { soakPicture } from './plot.ts';

const SAMPLES = 360;
/** A shorter test mostly covers the warm-up. */
const JUDGED_FROM_MINUTES = 5;

const HELP = `Usage: npm run soak -- [options]

Runs a mixed load on a new server and checks that its memory and open files stay flat.

Options:
  --minutes N  duration in minutes (default: 30, maximum: 240)
  --seed N     repeat the random choices of an earlier run (default: a random seed, which is printed)
  --save       write the samples and a plot to docs/results
  -h, --help   print this help and exit

Exit status: 0 if no request failed and memory and open files stayed flat, 1 if not, 2 if the arguments are invalid.

Example:
  npm run soak -- --minutes 5
`;

const values = readArguments();
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 240))
  exitWithUsage(`--minutes must be a number above 0 and up to 240, not "${values.minutes}"`);
if (!/^\d{1,10}$/.test(values.seed))
  exitWithUsage(`--seed must be an integer with at most 10 digits, not "${values.seed}"`);

for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // the exit handler also stops the server
const databaseUrl = `sqlite:${join(makeBenchFolder(), 'plants.db')}`;
const { secret: token, ...server } = await startTokenedServer(databaseUrl, { WEBHOOK_ALLOW_PRIVATE: '1' });
const delivered = await receiveWebhooks(server.url, token);
console.log(`${minutes} minutes of mixed load, seed ${values.seed}`);

const load = new MixedLoad({ url: server.url, token, random: createRandom(Number(values.seed)) });
const samples: Sample[] = [];
const stepMs = (minutes * 60_000) / SAMPLES;
const startMs = performance.now();
for (let n = 1; n <= SAMPLES; n++) {
  await sleep(Math.max(0, startMs + n * stepMs - performance.now()));
  samples.push({
    seconds: Math.round((performance.now() - startMs) / 100) / 10,
    ...usageOf(server.pid),
    answered: load.answered,
    p99Ms: Math.round(load.resetP99Ms() * 10) / 10,
  });
  if (n % (SAMPLES / 10) === 0) printSample(samples.at(-1) as Sample);
}
await load.stop();
await server.stop();

const isJudged = minutes >= JUDGED_FROM_MINUTES;
const { memory, files } = judge(samples);
const last = samples.at(-1) as Sample;
const describeLevel = (what: string, unit: string, { middle, end, isFlat }: Level) =>
  `${what}: ${middle}${unit} in the middle third, ${end}${unit} in the last: ${isFlat ? 'flat' : 'GROWS'}`;
console.log(
  [
    `${last.answered.toLocaleString('en')} requests in ${minutes} minutes, ${delivered().toLocaleString('en')} webhooks delivered, ${load.failures.length} failures`,
    ...(isJudged
      ? [describeLevel('memory', ' MiB', memory), describeLevel('open files', '', files)]
      : [`memory and open files not checked: the test ran for less than ${JUDGED_FROM_MINUTES} minutes`]),
  ].join('\n'),
);
for (const failure of load.failures.slice(0, 10)) console.log(`FAILED: ${failure}`);
if (values.save) {
  const date = new Date().toISOString().slice(0, 10);
  const soak = {
    date,
    minutes,
    seed: Number(values.seed),
    delivered: delivered(),
    failures: load.failures.length,
    samples,
  };
  await savePicture('soak', soakPicture(soak), RESULTS);
  writeFileSync(join(RESULTS, 'soak.json'), `${JSON.stringify(soak, undefined, 2)}\n`);
}
process.exit(load.failures.length === 0 && (!isJudged || (memory.isFlat && files.isFlat)) ? 0 : 1);

function usageOf(pid: number): { residentMib: number; files: number } {
  return { residentMib: Math.round(Number(rssMibOf(pid)) * 10) / 10, files: readdirSync(`/proc/${pid}/fd`).length };
}

function printSample({ seconds, residentMib, files, answered, p99Ms }: Sample): void {
  console.log(
    `${Math.round(seconds)} s: ${answered} requests, ${residentMib} MiB, ${files} open files, p99 ${p99Ms} ms`,
  );
}

/** Adds a webhook for all changes. Returns a function that counts its deliveries. */
async function receiveWebhooks(url: string, secret: string): Promise<() => number> {
  let count = 0;
  const receiver = createServer((request, response) => {
    count++;
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
  const { port } = receiver.address() as AddressInfo;
  const response = await fetch(`${url}/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      url: `http://127.0.0.1:${port}/`,
      events: ['plant.created', 'plant.updated', 'plant.deleted'],
    }),
  });
  if (response.status !== 201) throw new Error(await response.text());
  return () => count;
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h' },
        minutes: { type: 'string', default: '30' },
        save: { type: 'boolean' },
        seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
      },
    }).values;
  } catch (error) {
    return exitWithUsage((error as Error).message);
  }
}

function exitWithUsage(message: string): never {
  console.error(`${message}\n\n${HELP}`);
  process.exit(2);
}
