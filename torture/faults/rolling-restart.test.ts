// Restarts two nodes on one PostgreSQL behind HAProxy, one after the other, while clients write, read and follow
// changes.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBalancer } from '../../cluster/balancer.ts';
import { ClusterLoad } from '../../cluster/load.ts';
import { createMachine, missingPackages } from '../../cluster/machine.ts';
import { createServiceNodes, type ServiceNode } from '../../cluster/service-nodes.ts';
import { verify } from '../../cluster/verify.ts';
import { createClient } from '../../src/client/client.ts';
import { makeDatabase } from '../../testing/postgres.ts';
import { addToken } from '../../testing/server.ts';
import { fault } from '../fault.ts';
import { whyNoPostgres } from '../on-postgres.ts';

const NODE_NAMES = ['node1', 'node2'];
/** A client gets 400 if another client created its id first. */
const GOOD_ANSWERS = ['200', '400'];
const FOLLOWED_WITHIN_MS = 20_000;

fault({
  name: 'rolling restart',
  mark: 'No request fails, and no acknowledged write is lost. A reader of the change log sees each change once.',
  rounds: { short: 2, full: 10, of: 'restarts of one of two nodes behind HAProxy' },
  skip: missingPackages().includes('haproxy') ? 'haproxy is missing: run apt-get install haproxy' : whyNoPostgres,
  async trial({ t, rounds, isFull, random, launcher }) {
    const machine = createMachine({ keep: false });
    t.after(machine.end);
    const databaseUrl = await makeDatabase();
    const nodes = await createServiceNodes(machine, NODE_NAMES, launcher);
    const balancer = await startBalancer(machine, [], nodes);
    await Promise.all(nodes.map((node) => node.start(databaseUrl)));
    for (const { name } of nodes) await balancer.serves(name);
    const { secret: token } = await addToken(databaseUrl, {});
    const options = { url: balancer.url, token, nodeNames: NODE_NAMES, random };
    const load = new ClusterLoad({ ...options, operationsPerS: isFull ? 1000 : 300 });
    const { ledger } = load;
    try {
      ledger.beginPhase('nodes restart', GOOD_ANSWERS);
      for (let round = 0; round < rounds; round++) {
        const node = nodes[round % 2] as ServiceNode;
        await sleep(200 + random.below(500));
        await node.stop();
        await node.start(databaseUrl);
        await balancer.serves(node.name); // before the other node may stop
      }
    } finally {
      await load.stopWriting();
    }
    const findings = await verify(createClient({ url: balancer.url, token }), ledger, FOLLOWED_WITHIN_MS);
    await load.stopFollowing();

    const answers = [...(ledger.phases[0]?.answers ?? [])];
    const failed = answers.filter(([answer]) => !GOOD_ANSWERS.includes(answer));
    assert.equal(failed.length, 0, `requests failed: ${failed.map(([answer, count]) => `${count} × ${answer}`)}`);
    const wrong = [...findings.lost, ...ledger.violations, ...findings.violations];
    assert.equal(wrong.length, 0, `${wrong.length} violations: ${wrong.slice(0, 3).join('; ')}`);
    const requests = answers.reduce((sum, [, count]) => sum + count, 0);
    return `${requests.toLocaleString('en')} requests, 0 failed; ${ledger.acknowledged} acknowledged, 0 lost`;
  },
  controls: {
    'exits immediately on SIGTERM': {
      change: ['src/cli/serve.ts', ': void stop(signal, 0)', ': process.exit(0)'],
      caught: /requests failed: /,
      rounds: 20, // a PUT, which HAProxy does not retry, is in flight only by chance
    },
  },
});
