// Three PostgreSQL servers under Patroni, and the etcd server with which they elect a leader.

import type { ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePorts, type Machine } from './machine.ts';
import { patroniConfig } from './patroni-config.ts';
import { killPostgresIn, signalPostgresIn } from './postgres-processes.ts';

const NAMES = ['pg1', 'pg2', 'pg3'];
const ETCD_UP_WITHIN_MS = 20_000;
const CLUSTER_UP_WITHIN_MS = 90_000;
const FAILOVER_WITHIN_MS = 60_000;
const REJOIN_WITHIN_MS = 120_000;
const REQUEST_MS = 2000;

export interface PostgresNode {
  name: string;
  port: number;
  /** Port of Patroni's REST API, where `/primary` returns 200 on the leader. */
  restPort: number;
  folder: string;
  patroni: ChildProcess;
}

/** Response of Patroni's `/cluster`. A server that diverged and must be rewound is on another timeline. */
type Members = { members: { role: string; timeline: number }[] };
/** Response of Patroni's `/patroni`: the standbys, as the leader sees them. */
type Standbys = { replication?: { state: string }[] };

export type PostgresCluster = Awaited<ReturnType<typeof startPostgresCluster>>;

export async function startPostgresCluster(machine: Machine, password: string) {
  const etcdPort = await startEtcd(machine);
  const nodes: PostgresNode[] = [];
  for (const name of NAMES) nodes.push(await createNode(name));
  await allRunning(CLUSTER_UP_WITHIN_MS);

  return {
    nodes,
    leader: (): Promise<PostgresNode> => eventually('one server is the leader', FAILOVER_WITHIN_MS, findLeader),
    /** Simulates a power failure of its machine. */
    crash({ folder, patroni }: PostgresNode): void {
      patroni.kill('SIGKILL'); // first, otherwise it would notify the others
      killPostgresIn(folder);
    },
    /** Simulates a hang of its machine or network: connections stay open but carry no data. */
    freeze({ folder, patroni }: PostgresNode): void {
      patroni.kill('SIGSTOP');
      signalPostgresIn(folder, 'SIGSTOP');
    },
    /** Resumes the server, which still considers itself the leader. */
    thaw({ folder, patroni }: PostgresNode): void {
      signalPostgresIn(folder, 'SIGCONT');
      patroni.kill('SIGCONT');
    },
    /** Waits for a new leader, and returns it. */
    newLeader(old: PostgresNode): Promise<PostgresNode> {
      return eventually(`another server leads instead of ${old.name}`, FAILOVER_WITHIN_MS, async () => {
        const leader = await findLeader();
        return leader === old ? undefined : leader;
      });
    },
    start(node: PostgresNode): void {
      node.patroni = startPatroni(node);
    },
    /** Waits until all servers run, one of them as the synchronous standby. */
    whole: () => allRunning(REJOIN_WITHIN_MS),
  };

  async function createNode(name: string): Promise<PostgresNode> {
    const [port = 0, restPort = 0] = await freePorts(2);
    const folder = machine.subfolder(name);
    const config = patroniConfig({ name, port, restPort, folder, etcdPort, password });
    writeFileSync(join(folder, 'patroni.yml'), JSON.stringify(config, null, 2)); // JSON is valid YAML
    const node = { name, port, restPort, folder };
    return { ...node, patroni: startPatroni(node) };
  }

  function startPatroni({ name, folder }: Pick<PostgresNode, 'name' | 'folder'>): ChildProcess {
    return machine.startAsPostgres(name, 'patroni', [join(folder, 'patroni.yml')]);
  }

  /** Waits for a leader, a synchronous standby, and a second standby on the same timeline. */
  async function allRunning(timeoutMs: number): Promise<void> {
    await eventually('one PostgreSQL leads and two follow, one of them synchronously', timeoutMs, async () => {
      const leader = await findLeader();
      if (!leader) return undefined;
      const { members } = (await (await ask(leader.restPort, '/cluster')).json()) as Members;
      const { replication = [] } = (await (await ask(leader.restPort, '/patroni')).json()) as Standbys;
      const roles = members.map(({ role }) => role).sort();
      const timelines = new Set(members.map(({ timeline }) => timeline));
      const streaming = replication.filter(({ state }) => state === 'streaming');
      const isWhole = roles.join() === 'leader,replica,sync_standby' && timelines.size === 1 && streaming.length === 2;
      return isWhole || undefined;
    });
  }

  async function findLeader(): Promise<PostgresNode | undefined> {
    const leading = await Promise.all(
      nodes.map(async (node) => ((await isLeader(node).catch(() => false)) ? [node] : [])),
    );
    const leaders = leading.flat();
    if (leaders.length > 1)
      throw new Error(`${leaders.map(({ name }) => name).join(' and ')} both report that they are the leader`);
    return leaders[0];
  }

  async function isLeader({ restPort }: PostgresNode): Promise<boolean> {
    return (await ask(restPort, '/primary')).ok;
  }
}

async function startEtcd(machine: Machine): Promise<number> {
  const [port = 0, peerPort = 0] = await freePorts(2);
  const [url, peerUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${peerPort}`];
  const args = [
    ['--data-dir', machine.subfolder('etcd')],
    ['--listen-client-urls', url, '--advertise-client-urls', url],
    ['--listen-peer-urls', peerUrl, '--initial-advertise-peer-urls', peerUrl],
    ['--initial-cluster', `default=${peerUrl}`],
    ['--enable-v2'],
  ];
  machine.startAsPostgres('etcd', 'etcd', args.flat(), { ETCD_UNSUPPORTED_ARCH: process.arch });
  await eventually('etcd is healthy', ETCD_UP_WITHIN_MS, async () => (await ask(port, '/health')).ok || undefined);
  return port;
}

function ask(port: number, path: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(REQUEST_MS) });
}
