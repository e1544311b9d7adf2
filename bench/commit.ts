// Group commit: creates from 1, 64 and 512 clients, on the real disk and with every fsync delayed by 5 ms (by strace).
// A single create should cost one fsync and no other wait. Checkpoints should not show in the p99.9.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeMachine, readMachine } from './machine.ts';
import { treeOf } from './measure.ts';
import { makeBenchFolder, startTokenedServer, type TokenedServer, toCreate } from './server.ts';
import { isWrkHere, wrk } from './wrk.ts';

const CLIENTS = [1, 64, 512];
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const WARM_UP_SECONDS = Math.min(10, SECONDS);
const DELAY_US = 5000;

const folder = makeBenchFolder();
if (!isWrkHere || spawnSync('strace', ['--version']).status !== 0) {
  console.error('This benchmark needs wrk and strace: run apt-get install wrk strace');
  process.exit(2);
}

const machine = readMachine(folder);
console.log(`${describeMachine(machine)}\n`);
console.log(
  '                              creates/s    p50 ms    p99 ms  p99.9 ms   creates per commit  fsyncs/create',
);
for (const [disk, delayUs] of [
  ['real disk', 0],
  ['5 ms per fsync', DELAY_US],
] as const) {
  const syncs = join(folder, 'syncs');
  const databaseUrl = `sqlite:${join(folder, `${delayUs}.db`)}`;
  const server = await startTokenedServer(databaseUrl, {}, tracing(syncs, delayUs));
  let first = await load(server, 64, 1, WARM_UP_SECONDS).then(({ sent }) => 1 + sent);
  for (const clients of CLIENTS) {
    const [commitsBefore, syncsBefore] = [await commitsOf(server), countLines(syncs)];
    const { sent, perSecond, p50Ms, p99Ms, p999Ms } = await load(server, clients, first, SECONDS);
    first += sent;
    const each = sent / ((await commitsOf(server)) - commitsBefore);
    const cells = [
      Math.round(perSecond).toLocaleString('en').padStart(11),
      ...[p50Ms, p99Ms, p999Ms].map((ms) => ms.toFixed(2).padStart(10)),
      each.toFixed(1).padStart(21),
      ((countLines(syncs) - syncsBefore) / sent).toFixed(3).padStart(15),
    ];
    console.log(`${`${disk}, ${clients} client${clients === 1 ? '' : 's'}`.padEnd(28)}${cells.join('')}`);
  }
  process.kill(treeOf(server.pid)[1] as number); // strace does not forward signals
  await server.stop();
}

/** Returns the strace command that stops only these calls, so that all others keep their cost. */
function tracing(syncs: string, delayUs: number): string[] {
  const calls = 'fsync,fdatasync';
  const delay = delayUs > 0 ? ['-e', `inject=${calls}:delay_exit=${delayUs}`] : [];
  return ['strace', '-f', '-qq', '--seccomp-bpf', '-e', `trace=${calls}`, ...delay, '-o', syncs];
}

function load({ url, secret }: TokenedServer, connections: number, first: number, seconds: number) {
  return wrk({ url, request: toCreate(secret), first, seconds, connections, folder });
}

async function commitsOf({ url, secret }: TokenedServer): Promise<number> {
  const answer = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${secret}` } });
  return Number(/^plant_store_batch_writes_count (\d+)$/m.exec(await answer.text())?.[1]);
}

function countLines(path: string): number {
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line.includes('sync(')).length;
}
