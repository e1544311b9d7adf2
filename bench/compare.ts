// Compares creates and reads with a minimal Node server, hand-written servers and well-known products: all of them in
// each round, over 64 connections. `--save` writes the results and a chart to docs/results. BENCH_ONLY=echo,plant-store
// selects servers. BENCH_ROUNDS and BENCH_SECONDS set the duration.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTESTANTS } from './contestants/all.ts';
import type { Contestant } from './contestants/contestant.ts';
import { CONNECTIONS } from './load.ts';
import { readMachine } from './machine.ts';
import { peakMibOf, untilIdle } from './measure.ts';
import { RESULTS, savePicture } from './picture.ts';
import { comparePicture } from './plot-compare.ts';
import { promotedPerCreate } from './promoted.ts';
import { type Entrant, race, signalAll, takeTurn, WrongCount } from './race.ts';
import { type Comparison, type End, summarize } from './results.ts';
import { makeBenchFolder } from './server.ts';
import { printComparison } from './table.ts';
import { toTargets } from './targets.ts';
import { isWrkHere } from './wrk.ts';

if (!isWrkHere) {
  console.error('wrk is missing: run apt-get install wrk');
  process.exit(2);
}
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
/** Time in which a JavaScript engine still compiles hot code. */
const WARM_UP_SECONDS = ROUNDS > 1 ? 10 : SECONDS;
/** Servers whose reads are compared, the floor first. */
const READERS = ['echo', 'plant-store', 'plant-store-1-thread'];
const READ_UP_TO = 10_000;
const SETTLE_MS = 10_000;

const folder = makeBenchFolder();
const entrants: Entrant[] = [];
const notMeasured: Comparison['notMeasured'] = [];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopAll().then(() => process.exit(1)));

let comparison: Comparison;
try {
  for (const contestant of chosen()) await tryToEnter(contestant);
  comparison = await compare();
} finally {
  await stopAll();
}
printComparison(comparison);
if (process.argv.includes('--save')) {
  await savePicture('compare', comparePicture(comparison), RESULTS);
  writeFileSync(join(RESULTS, 'compare.json'), `${JSON.stringify(comparison, undefined, 2)}\n`);
}

function chosen(): Contestant[] {
  const only = process.env.BENCH_ONLY?.split(',');
  const unknown = only?.find((name) => !CONTESTANTS.some((contestant) => contestant.name === name));
  if (unknown !== undefined) {
    console.error(
      `Unknown server "${unknown}" in BENCH_ONLY. Choose from: ${CONTESTANTS.map(({ name }) => name).join(', ')}`,
    );
    process.exit(2);
  }
  return CONTESTANTS.filter(({ name }) => only?.includes(name) ?? true);
}

/** Enters the contestant. One that cannot be installed, started or loaded does not stop the others. */
async function tryToEnter(contestant: Contestant): Promise<void> {
  process.stderr.write(`Starting ${contestant.name}\n`);
  try {
    entrants.push(await enter(contestant));
  } catch (error) {
    if (error instanceof WrongCount) throw error;
    const { message } = error as Error;
    notMeasured.push({ name: contestant.name, reason: message.split('\n')[0] ?? '' });
    process.stderr.write(`${contestant.name} was not measured: ${message}\n`);
  }
}

/** Starts the contestant, warms it up, and pauses it until its turn. */
async function enter(contestant: Contestant): Promise<Entrant> {
  const own = join(folder, contestant.name);
  mkdirSync(own);
  const running = await contestant.start(own);
  try {
    const entrant = { contestant, running, next: 1, answered: 0, stored: 0 };
    const { pid, databasePid = pid } = running;
    await untilIdle([pid, databasePid], SETTLE_MS);
    await takeTurn(entrant, { request: running.create, seconds: WARM_UP_SECONDS, folder: own });
    return entrant;
  } catch (error) {
    signalAll(running, 'SIGCONT');
    await running.stop();
    throw error;
  }
}

async function compare(): Promise<Comparison> {
  const measured = await race(entrants, ROUNDS, ({ running }) => ({
    request: running.create,
    seconds: SECONDS,
    folder,
  }));
  const creates = summarize(measured, (entrant) => ({
    ...peaksOf(entrant),
    answered: entrant.answered,
    stored: entrant.stored,
  }));
  const reads = await compareReads();
  const isOurs = entrants.some(({ contestant }) => contestant.name === 'plant-store');
  const promotedBytes = isOurs ? await promotedPerCreate(folder, WARM_UP_SECONDS, ROUNDS * SECONDS) : undefined;
  return {
    date: new Date().toISOString().slice(0, 10),
    machine: readMachine(folder),
    load: { by: 'wrk', connections: CONNECTIONS, rounds: ROUNDS, seconds: SECONDS },
    creates,
    reads,
    targets: toTargets(creates, reads, promotedBytes),
    notMeasured,
  };
}

/** Compares our reads with the floor, which first gets a record to return. */
async function compareReads(): Promise<Comparison['reads']> {
  const readers = READERS.flatMap((name) => entrants.filter(({ contestant }) => contestant.name === name));
  const [floor, ...ours] = readers;
  const [own] = ours;
  if (floor?.contestant.group !== 'floor' || !own) return [];
  for (const { running } of [own, floor]) signalAll(running, 'SIGCONT');
  const record = await fetch(`${own.running.url}/plants/1`, { headers: own.running.get?.headers ?? {} });
  await fetch(`${floor.running.url}/plants`, { method: 'POST', body: await record.text() });
  const readUpTo = Math.min(READ_UP_TO, ...ours.map(({ answered }) => Math.floor(answered / 2)));
  const turnOf = ({ running }: Entrant) => ({
    request: running.get ?? running.create,
    seconds: SECONDS,
    folder,
    readUpTo,
  });
  for (const entrant of readers) await takeTurn(entrant, { ...turnOf(entrant), seconds: WARM_UP_SECONDS });
  return summarize(await race(readers, ROUNDS, turnOf), peaksOf);
}

function peaksOf({ running: { pid, databasePid } }: Entrant): Pick<End, 'serverMib' | 'databaseMib'> {
  return {
    serverMib: peakMibOf(pid),
    databaseMib: databasePid === undefined ? undefined : peakMibOf(databasePid),
  };
}

async function stopAll(): Promise<void> {
  for (const { running } of entrants.splice(0)) {
    signalAll(running, 'SIGCONT'); // a stopped process would not receive SIGTERM
    await running.stop();
  }
}
