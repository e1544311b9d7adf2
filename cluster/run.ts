// npm run cluster: two service nodes on three PostgreSQL servers. Under load, servers and nodes crash, hang and
// restart. No acknowledged write may be lost.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { createClient } from '../src/client/client.ts';
import { addToken } from '../testing/launch.ts';
import { createRandom } from '../torture/random.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { createFaults } from './faults.ts';
import { ClusterLoad } from './load.ts';
import { createMachine, eventually, missingPackages } from './machine.ts';
import { startPostgresCluster } from './postgres-cluster.ts';
import { printReport } from './report.ts';
import { createServiceNodes } from './service-nodes.ts';
import { verify } from './verify.ts';

const KILLS = readCount('CLUSTER_KILLS', 10);
const FREEZES = readCount('CLUSTER_FREEZES', 2);
const NODE_KILLS = readCount('CLUSTER_NODE_KILLS', 4);
const RESTARTS = readCount('CLUSTER_RESTARTS', 4);
const SEED = readCount('CLUSTER_SEED', Math.floor(Math.random() * 2 ** 31));
const NODE_NAMES = ['node1', 'node2'];
const CALM_MS = 2000;
const FOLLOWED_WITHIN_MS = 60_000;
const DATABASE_WITHIN_MS = 30_000;

const HELP = `Usage: npm run cluster

Runs two service nodes behind HAProxy on three PostgreSQL servers under Patroni, with load and faults.
Checks that no acknowledged write is lost. Takes about six minutes.

Environment:
  CLUSTER_KILLS=10      number of crashes of the PostgreSQL leader
  CLUSTER_FREEZES=2     number of hangs of the PostgreSQL leader
  CLUSTER_NODE_KILLS=4  number of node crashes
  CLUSTER_RESTARTS=4    number of node restarts
  CLUSTER_SEED=N        repeat the random choices of an earlier run
  CLUSTER_KEEP=1        keep the folder with all log files

Exit status: 0 if the trial passed or was skipped, 1 if it failed, 2 if a setting is invalid.

Example:
  CLUSTER_KILLS=1 CLUSTER_FREEZES=0 npm run cluster
`;

if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(HELP);
  process.exit();
}
const missing = missingPackages();
if (missing.length > 0) {
  console.log(`SKIPPED: packages are missing. Run sudo apt-get install ${missing.join(' ')}`);
  process.exit(0);
}
const machine = createMachine({ keep: process.env.CLUSTER_KEEP === '1' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));
const hasPassed = await runTrial().catch((error: Error) => {
  console.log(`FAILED: ${error.message}`);
  return false;
});
process.exit(hasPassed ? 0 : 1);

async function runTrial(): Promise<boolean> {
  say(`Seed ${SEED}: starting etcd and three PostgreSQL servers`);
  const random = createRandom(SEED);
  const password = randomBytes(16).toString('hex');
  const postgres = await startPostgresCluster(machine, password);
  const nodes = await createServiceNodes(machine, NODE_NAMES);
  const balancer = await startBalancer(machine, postgres.nodes, nodes);
  const databaseUrl = await createDatabase(balancer, password);

  say('Starting two nodes of the service');
  for (const node of nodes) await node.start(databaseUrl);
  for (const { name } of nodes) await balancer.serves(name);
  const { secret: token } = await addToken(databaseUrl);
  const load = new ClusterLoad({ url: balancer.url, token, nodeNames: NODE_NAMES, random });
  const { ledger } = load;
  const faults = createFaults({ postgres, nodes, balancer, databaseUrl, ledger, say, random });

  // The allowed responses in each phase. A client gets 400 if another client created its id first.
  ledger.beginPhase('PostgreSQL crashes and hangs', ['200', '400', '503']);
  for (let n = 0; n < KILLS; n++) await faults.crashPostgres();
  for (let n = 0; n < FREEZES; n++) await faults.hangPostgres();
  await sleep(CALM_MS);
  ledger.beginPhase('nodes crash', ['200', '400', '502', 'ECONNRESET', 'UND_ERR_SOCKET']);
  for (let n = 0; n < NODE_KILLS; n++) await faults.crashNode();
  await sleep(CALM_MS);
  ledger.beginPhase('nodes restart', ['200', '400']);
  for (let n = 0; n < RESTARTS; n++) await faults.restartNode();

  say('Comparing the stored plants with the acknowledged writes');
  await load.stopWriting();
  for (const node of nodes) {
    if (node.ended()) ledger.violations.push(`${node.name} exited: ${node.ended()}`);
  }
  const findings = await verify(createClient({ url: balancer.url, token }), ledger, FOLLOWED_WITHIN_MS);
  await load.stopFollowing();
  return printReport({ ledger, findings, pausesMs: faults.pausesMs });
}

/** Creates a database that the service owns, through the URL that the service will use. */
async function createDatabase({ postgresPort }: Balancer, password: string): Promise<string> {
  const url = (user: string, database: string) =>
    `postgres://${user}:${password}@127.0.0.1:${postgresPort}/${database}`;
  const commands = [`CREATE ROLE plants LOGIN PASSWORD '${password}'`, 'CREATE DATABASE plants OWNER plants'];
  await eventually('psql reaches PostgreSQL through HAProxy', DATABASE_WITHIN_MS, async () => {
    await promisify(execFile)('psql', [...commands.flatMap((command) => ['-c', command]), url('postgres', 'postgres')]);
    return true;
  });
  return url('plants', 'plants');
}

function readCount(name: string, byDefault: number): number {
  const text = process.env[name] ?? String(byDefault);
  if (/^\d+$/.test(text)) return Number(text);
  console.error(`${name} must be a whole number, not "${text}"`);
  process.exit(2);
}

function say(text: string): void {
  console.log(`${new Date().toISOString().slice(11, 19)} ${text}`);
}
