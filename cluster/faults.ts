// Faults that are injected while clients write. Each one lasts until all servers are back, and records the longest time
// without an acknowledged write.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Balancer } from './balancer.ts';
import type { Ledger } from './ledger.ts';
import { eventually } from './machine.ts';
import type { PostgresCluster, PostgresNode } from './postgres-cluster.ts';
import type { ServiceNode } from './service-nodes.ts';

/** Range of the load's duration before each fault. It is random, so that the faults hit different states. */
const CALM_MS = { least: 2000, most: 4000 };
/** Downtime of a node. */
const AWAY_MS = 1000;
/** Number of acknowledgements after a failover that prove that writes are back. */
const WRITES_AGAIN = 100;
const WRITES_WITHIN_MS = 60_000;

export function createFaults(options: {
  postgres: PostgresCluster;
  nodes: ServiceNode[];
  balancer: Balancer;
  databaseUrl: string;
  ledger: Ledger;
  say: (text: string) => void;
  /** Returns a number from 0 up to but not including 1. */
  random: () => number;
}) {
  const { postgres, nodes, balancer, databaseUrl, ledger, say, random } = options;
  const pausesMs = new Map<string, number[]>();
  let turn = 0;

  return {
    /** Longest times without an acknowledged write, by fault. */
    pausesMs,
    /** Crashes the leader, so that another server becomes the leader. */
    crashPostgres: () =>
      measure('PostgreSQL crashes', () => failOver({ fail: postgres.crash, bringBack: postgres.start })),
    hangPostgres: () =>
      measure('PostgreSQL hangs', () => failOver({ fail: postgres.freeze, bringBack: postgres.thaw })),
    /** Crashes the nodes in turn. */
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
    return `${old.name}, new leader ${leader.name}`;
  }

  async function withoutNode(end: (node: ServiceNode) => Promise<void>): Promise<string> {
    const node = nodes[turn++ % nodes.length] as ServiceNode;
    await end(node);
    await sleep(AWAY_MS);
    await node.start(databaseUrl);
    await balancer.serves(node.name); // before the other node may stop
    return node.name;
  }
}
