// Measures the duration of sequential reads on a separate thread, so that the trial's own work does not distort it.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';

export interface Reads {
  port: number;
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
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  let isStopped = false;
  if (count === Number.POSITIVE_INFINITY) {
    await read(agent, target);
    parentPort.once('message', () => {
      isStopped = true;
    });
    parentPort.postMessage('ready');
  }
  while (times.length < count && !isStopped) {
    const [startMs, waitedMs] = [performance.now(), pid ? waitedForCpuMs(pid) : 0];
    await read(agent, target);
    const ownMs = pid ? waitedForCpuMs(pid) - waitedMs : 0;
    times.push(performance.now() - startMs - ownMs);
    await setTimeout(pauseMs);
  }
  agent.destroy();
  parentPort.postMessage(times);
}

/** Returns the time that the process's main thread and this thread were ready to run, but did not run. */
function waitedForCpuMs(pid: number): number {
  if (process.platform !== 'linux') return 0;
  const paths = [`/proc/${pid}/task/${pid}/schedstat`, '/proc/thread-self/schedstat'];
  return paths.reduce((sum, path) => sum + Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6, 0);
}

function read(agent: Agent, { port, secret, path }: Omit<Reads, 'count' | 'pauseMs'>): Promise<void> {
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
