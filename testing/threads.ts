// Connects to each thread of a service that serves requests on several. Each thread has its own prefix of request ids.

import { Agent } from 'node:http';
import { send } from './request.ts';
import { until } from './until.ts';

/** Length of the prefix that all request ids of a thread share. */
const PREFIX_LENGTH = 24;

/** Returns an agent for each thread. Each agent has one connection and keeps it until the caller destroys it. */
export async function connectToEachThread(port: number, threads: number): Promise<Agent[]> {
  const agents = new Map<string, Agent>();
  await until(async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const thread = await threadOf(port, agent);
    if (agents.has(thread))
      agent.destroy(); // the system chooses the thread of a connection at random
    else agents.set(thread, agent);
    return agents.size === threads;
  });
  return [...agents.values()];
}

/** Waits until all threads serve requests, for example before a test measures memory. */
export async function waitForThreads({ port, threads }: { port: number; threads: number }): Promise<void> {
  for (const agent of await connectToEachThread(port, threads)) agent.destroy();
}

/** Returns the prefix of the request ids of the thread that an agent is connected to. */
async function threadOf(port: number, agent: Agent): Promise<string> {
  const { headers } = await send(port, { path: '/healthz', agent });
  return String(headers['x-request-id']).slice(0, PREFIX_LENGTH);
}
