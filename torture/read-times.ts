// How long reads take, one after the other, on a thread of their own: what else a trial does does not count.

import { once } from 'node:events';
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

/** In milliseconds. */
export async function readTimes(reads: Reads): Promise<number[]> {
  const [times] = await once(new Worker(import.meta.filename, { workerData: reads }), 'message');
  return times;
}

/** How long reads take while `work` is done, in milliseconds. */
export async function readTimesDuring(reads: Omit<Reads, 'count'>, work: () => Promise<unknown>): Promise<number[]> {
  const workerData: Reads = { ...reads, count: Number.POSITIVE_INFINITY };
  const worker = new Worker(import.meta.filename, { workerData });
  await once(worker, 'online');
  const [[times]] = await Promise.all([once(worker, 'message'), work().finally(() => worker.postMessage('stop'))]);
  return times;
}

if (!isMainThread && parentPort) {
  const { count, pauseMs, ...target } = workerData as Reads;
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  let isStopped = false;
  parentPort.once('message', () => {
    isStopped = true;
  });
  parentPort.unref();
  while (times.length < count && !isStopped) {
    const startMs = performance.now();
    await read(agent, target);
    times.push(performance.now() - startMs);
    await setTimeout(pauseMs);
  }
  agent.destroy();
  parentPort.postMessage(times);
}

function read(agent: Agent, { port, secret, path }: Omit<Reads, 'count' | 'pauseMs'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${secret}` };
    request({ host: '127.0.0.1', port, path, headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${path} was answered with ${response.statusCode}`));
      response.resume().on('end', resolve);
    })
      .on('error', reject)
      .end();
  });
}
