// npm run cluster: kills the leader of three PostgreSQL servers under Patroni, while two nodes serve a load.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { missingPackages } from '../../cluster/machine.ts';
import { fault } from '../fault.ts';
import { ANSWERS_FIRST_ON_POSTGRES } from '../on-postgres.ts';

const SCRIPT = join(import.meta.dirname, '../../cluster/run.ts');

fault({
  name: 'failover',
  mark: 'No acknowledged write is lost or read wrong. Each write has one change, and a reader of the change log sees each change once.',
  rounds: { short: 1, full: 10, of: 'kills of the PostgreSQL leader' },
  skip: whyNot(),
  async trial({ t, rounds, seed, launcher }) {
    const counts = {
      CLUSTER_KILLS: rounds,
      CLUSTER_FREEZES: Math.floor(rounds / 5),
      CLUSTER_NODE_KILLS: Math.floor(rounds / 5),
      CLUSTER_RESTARTS: 0, // rolling-restart.test.ts covers restarts
      CLUSTER_SEED: seed,
    };
    const env = Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
    const child = spawn(process.execPath, [SCRIPT], {
      env: { PATH: process.env.PATH, CLUSTER_LAUNCHER: launcher, ...env },
    });
    t.after(() => child.kill()); // it stops all its own processes
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => {
        printed += chunk;
      });
    }
    const [status] = await once(child, 'exit');
    assert.equal(status, 0, complaints() || printed);
    assert.match(printed, /acknowledged and lost +0\n[\s\S]*PASSED/);
    return `${find(/writes acknowledged +(\d+)/)} acknowledged, 0 lost; no write for ${find(/PostgreSQL crashes +\d+: (.*)/)} (min / median / max)`;

    function complaints(): string {
      const lines = printed.split('\n').filter((line) => /acknowledged and lost|^LOST|^VIOLATED|^FAILED/.test(line));
      return lines.slice(0, 10).join('\n');
    }

    function find(pattern: RegExp): string {
      return pattern.exec(printed)?.[1] ?? assert.fail(`The report has no ${pattern}: ${printed}`);
    }
  },
  controls: {
    'responds 500 ms before it commits': {
      changes: ANSWERS_FIRST_ON_POSTGRES,
      caught: /acknowledged and lost +[1-9]/,
      rounds: 3,
    },
  },
});

function whyNot(): string | undefined {
  const missing = missingPackages();
  return missing.length > 0 ? `missing packages: run apt-get install ${missing.join(' ')}` : undefined;
}
