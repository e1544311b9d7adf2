// What is done to the servers while clients write, each time until all of them are back, and for how long nothing was
// acknowledged meanwhile.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Balancer } from './balancer.ts';
import type { Ledger } from './ledger.ts';
import { eventually } from './machine.ts';
import type { PostgresCluster, PostgresNode } from './postgres-cluster.ts';
import type { ServiceNode } from './service-nodes.ts';

/** So long there is load before each, at least and at most: no two find it in the same state. */
const CALM_MS = { least: 2000, most: 4000 };
/** A node stays away for so long. */
const AWAY_MS = 1000;
/** So many acknowledgements after a failover say that writes are back. */
const WRITES_AGAIN = 100;
const WRITES_WITHIN_MS = 60_000;

export function createFaults(options: {
  postgres: PostgresCluster;
  nodes: ServiceNode[];
  balancer: Balancer;
  databaseUrl: string;
  ledger: Ledger;
  say: (text: string) => void;
  /** From 0 up to 1, without it. */
  random: () => number;
}) {
  const { postgres, nodes, balancer, databaseUrl, ledger, say, random } = options;
  const pausesMs = new Map<string, number[]>();
  let turn = 0;

  return {
    /** By what was done. */
    pausesMs,
    /** Crashes the one that leads; another one leads then. */
    crashPostgres: () =>
      measure('PostgreSQL crashes', () => failOver({ fail: postgres.crash, bringBack: postgres.start })),
    hangPostgres: () =>
      measure('PostgreSQL hangs', () => failOver({ fail: postgres.freeze, bringBack: postgres.thaw })),
    /** One node and the other by turns. */
    crashNode: () => measure('a node crashes', () => withoutNode(async (node) => node.kill())),
    restartNode: () => measure('a node restarts', () => withoutNode((node) => node.stop())),
  };

  async function measure(what: string, work: () => Promise<string>): Promise<void> {
    await sleep(CALM_MS.least + random() * (CALM_MS.most - CALM_MS.least));
    ledger.resetLongestPauseMs();
    const names = await work();
    const pauseMs = ledger.resetLongestPauseMs();
    pausesMs.set(what, [...(pausesMs.get(what) ?? []), pauseMs]);
    say(`${what}: ${names}, no write for ${(pauseMs / 1000).toFixed(2)} s`);
  }

  async function failOver(how: Record<'fail' | 'bringBack', (node: PostgresNode) => void>): Promise<string> {
    const old = await postgres.leader();
    how.fail(old);
    const leader = await postgres.newLeader(old);
    const before = ledger.acknowledged;
    await eventually(`writes are acknowledged again without ${old.name}`, WRITES_WITHIN_MS, async () => {
      return ledger.acknowledged > before + WRITES_AGAIN || undefined;
    });
    how.bringBack(old);
    await postgres.whole();
    return `${old.name}, now ${leader.name} leads`;
  }

  async function withoutNode(end: (node: ServiceNode) => Promise<void>): Promise<string> {
    const node = nodes[turn++ % nodes.length] as ServiceNode;
    await end(node);
    await sleep(AWAY_MS);
    await node.start(databaseUrl);
    await balancer.serves(node.name); // before the other one may go
    return node.name;
  }
}
