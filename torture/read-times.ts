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

if (!isMainThread && parentPort) {
  const { count, pauseMs, ...target } = workerData as Reads;
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  while (times.length < count) {
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
