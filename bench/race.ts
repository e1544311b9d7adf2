// Loads several servers in turns and measures each one alone. The others are paused (SIGSTOP), so that they use no CPU.
// After every load, the number of stored plants is compared with the number of acknowledged ones.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Contestant, Running } from './contestants/contestant.ts';
import type { Request } from './load.ts';
import { cpuUsOf, hasProc, treeOf, untilIdle } from './measure.ts';
import { wrk } from './wrk.ts';

/** Time for a paused server to resume. */
const AWAKE_MS = 100;
/** Maximum time for work after the last response, which counts towards the cost of the requests. */
const FINISH_MS = 10_000;

/** The server stored fewer plants than it acknowledged, or more than were sent. This invalidates all results. */
export class WrongCount extends Error {}

export interface Entrant {
  contestant: Contestant;
  running: Running;
  /** Id of the next plant. */
  next: number;
  answered: number;
  stored: number;
}

export interface Round {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time per request, if /proc is available. */
  serverUs: number | undefined;
  databaseUs: number | undefined;
}

export interface Turn {
  request: Request;
  seconds: number;
  folder: string;
  /** If set, reads only the plants with ids up to this value. */
  readUpTo?: number;
}

/** Runs all rounds. Each round starts with another entrant. */
export async function race(
  entrants: Entrant[],
  rounds: number,
  turnOf: (entrant: Entrant) => Turn,
): Promise<Map<Entrant, Round[]>> {
  const measured = new Map(entrants.map((entrant): [Entrant, Round[]] => [entrant, []]));
  for (let round = 0; round < rounds; round++) {
    const at = round % entrants.length;
    for (const entrant of [...entrants.slice(at), ...entrants.slice(0, at)]) {
      const result = await takeTurn(entrant, turnOf(entrant));
      measured.get(entrant)?.push(result);
      process.stderr.write(
        `${round + 1}/${rounds} ${entrant.contestant.name}: ${Math.round(result.perSecond).toLocaleString('en')}/s\n`,
      );
    }
  }
  return measured;
}

/** Measures one round of an entrant. Throws WrongCount. */
export async function takeTurn(entrant: Entrant, { request, seconds, folder, readUpTo }: Turn): Promise<Round> {
  const { running } = entrant;
  const { url, pid, databasePid } = running;
  signalAll(running, 'SIGCONT');
  await sleep(AWAKE_MS);
  const before = cpuOf(running);
  const load = { url, request, seconds, folder };
  const loaded = await wrk(
    readUpTo === undefined ? { ...load, first: entrant.next } : { ...load, first: 1, wrapAfter: readUpTo },
  );
  await untilIdle(databasePid === undefined ? [pid] : [pid, databasePid], FINISH_MS);
  const after = cpuOf(running);
  let done = loaded.answered;
  if (readUpTo === undefined) {
    entrant.next += loaded.sent;
    done = await checkStored(entrant, loaded);
  }
  signalAll(running, 'SIGSTOP');
  const each = (end: number | undefined, begin: number | undefined) =>
    end === undefined || begin === undefined ? undefined : round((end - begin) / done, 1);
  return {
    perSecond: round(loaded.perSecond, 1),
    p50Ms: round(loaded.p50Ms, 2),
    p99Ms: round(loaded.p99Ms, 2),
    serverUs: each(after.server, before.server),
    databaseUs: each(after.database, before.database),
  };
}

/** Returns the number of stored plants. Throws unless it is between the acknowledged and the sent requests. */
async function checkStored(entrant: Entrant, { answered, sent }: { answered: number; sent: number }): Promise<number> {
  entrant.answered += answered;
  if (!entrant.running.countPlants) return answered;
  const stored = (await entrant.running.countPlants()) - entrant.stored;
  if (stored < answered || stored > sent) {
    throw new WrongCount(`${entrant.contestant.name} acknowledged ${answered} of ${sent} plants and stored ${stored}`);
  }
  entrant.stored += stored;
  return stored;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function cpuOf({ pid, databasePid }: Running): { server: number | undefined; database: number | undefined } {
  return { server: cpuUsOf(pid), database: databasePid === undefined ? undefined : cpuUsOf(databasePid) };
}

/** Signals the whole process tree. Without /proc the tree is unknown, and all processes continue. */
export function signalAll({ pid, databasePid }: Running, signal: 'SIGSTOP' | 'SIGCONT'): void {
  if (!hasProc) return;
  const roots = databasePid === undefined ? [pid] : [databasePid, pid];
  for (const each of roots.flatMap(treeOf)) {
    try {
      process.kill(each, signal);
    } catch {
      // the process has ended
    }
  }
}
