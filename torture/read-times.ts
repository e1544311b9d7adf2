// Measures the duration of sequential reads on a separate thread, so that the trial's own work does not distort it.
// Each read is sent to all threads of the server at the same time, and the slowest response counts.

import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { connectToEachThread } from '../testing/threads.ts';

export interface Reads {
  port: number;
  threads: number;
  secret: string;
  path: string;
  count: number;
  pauseMs: number;
}

/** Returns the durations of `count` reads in milliseconds. */
export async function readTimes(reads: Reads): Promise<number[]> {
  const [times] = await once(new Worker(import.meta.filename, { workerData: reads }), 'message');
  return times;
}

export interface ReadsDuring extends Omit<Reads, 'count'> {
  /** Process id of the server. On Linux, its and the reader's waits for a CPU are subtracted. */
  pid: number | undefined;
}

/** Returns the durations of reads in milliseconds while `work` runs. */
export async function readTimesDuring(reads: ReadsDuring, work: () => Promise<unknown>): Promise<number[]> {
  const worker = new Worker(import.meta.filename, { workerData: { ...reads, count: Number.POSITIVE_INFINITY } });
  await once(worker, 'message'); // the first read is complete
  const [[times]] = await Promise.all([once(worker, 'message'), work().finally(() => worker.postMessage('stop'))]);
  return times;
}

if (!isMainThread && parentPort) {
  const { count, pauseMs, pid, ...target } = workerData as Reads & Partial<ReadsDuring>;
  const agents = await connectToEachThread(target.port, target.threads);
  const readAll = () => Promise.all(agents.map((agent) => read(agent, target)));
  const times: number[] = [];
  let isStopped = false;
  if (count === Number.POSITIVE_INFINITY) {
    await readAll();
    parentPort.once('message', () => {
      isStopped = true;
    });
    parentPort.postMessage('ready');
  }
  while (times.length < count && !isStopped) {
    const [startMs, waitedMs] = [performance.now(), pid ? waitedForCpuMs(pid) : new Map()];
    await readAll();
    const ownMs = pid ? waitedSince(waitedMs, pid) : 0;
    times.push(performance.now() - startMs - ownMs);
    await setTimeout(pauseMs);
  }
  for (const agent of agents) agent.destroy();
  parentPort.postMessage(times);
}

/** Returns the time that each thread of the process, and this thread, was ready to run but did not run. */
function waitedForCpuMs(pid: number): Map<string, number> {
  if (process.platform !== 'linux') return new Map();
  const tasks = readdirSync(`/proc/${pid}/task`).map((task) => `/proc/${pid}/task/${task}/schedstat`);
  return new Map(
    ['/proc/thread-self/schedstat', ...tasks].map((path) => [
      path,
      Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6,
    ]),
  );
}

/** Returns the longest wait of a thread of the process since `before`, and that of this thread. */
function waitedSince(before: Map<string, number>, pid: number): number {
  const [own = 0, ...others] = [...waitedForCpuMs(pid)].map(([path, ms]) => ms - (before.get(path) ?? ms));
  return own + Math.max(0, ...others);
}

function read(agent: Agent, { port, secret, path }: Omit<Reads, 'threads' | 'count' | 'pauseMs'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}` };
    request({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} returned ${response.statusCode}`));
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end();
  });
}
