// An HAProxy with two ports: one for the current PostgreSQL leader, and one for the service nodes, any of which may
// stop and start without an effect on clients.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePorts, type Machine } from './machine.ts';
import type { PostgresNode } from './postgres-cluster.ts';

const UP_WITHIN_MS = 30_000;
const REQUEST_MS = 2000;

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/** Starts HAProxy. Without PostgreSQL nodes it balances the service only. */
export async function startBalancer(
  machine: Machine,
  postgresNodes: PostgresNode[],
  serviceNodes: { name: string; port: number }[],
) {
  const [postgresPort = 0, httpPort = 0, statsPort = 0] = await freePorts(3);
  const path = join(machine.folder, 'haproxy.cfg');
  writeFileSync(path, configuration());
  machine.startAsPostgres('haproxy', 'haproxy', ['-db', '-f', path]);
  if (postgresNodes.length > 0) {
    await eventually('HAProxy has found the PostgreSQL leader', UP_WITHIN_MS, async () => {
      return (await namesUp('postgres')).length === 1 || undefined;
    });
  }
  return {
    /** Port of the current PostgreSQL leader. */
    postgresPort,
    /** URL of the service. */
    url: `http://127.0.0.1:${httpPort}`,
    /** Waits until the node receives requests. */
    async serves(nodeName: string): Promise<void> {
      await eventually(`HAProxy sends requests to ${nodeName}`, UP_WITHIN_MS, async () => {
        return (await namesUp('plants')).includes(nodeName) || undefined;
      });
    },
  };

  /** Returns the names of the healthy servers in a section of the configuration. */
  async function namesUp(section: string): Promise<string[]> {
    const response = await fetch(`http://127.0.0.1:${statsPort}/;csv`, { signal: AbortSignal.timeout(REQUEST_MS) });
    const rows = (await response.text()).split('\n').map((line) => line.split(','));
    return rows.flatMap(([proxy, name = '', ...values]) =>
      proxy === section && name !== 'BACKEND' && values.includes('UP') ? [name] : [],
    );
  }

  // Retries: - If the connection fails, nothing was sent: HAProxy sends any request to another node ("option redispatch
  // 1"). - If the connection closes without a response: HAProxy retries reads and POST, which stores a plant only once.
  // A PUT,   PATCH or DELETE may have taken effect, and another client's write may have followed, so the client must
  // check. A node that stops refuses new connections and keeps the others open for 0.5 s. By then HAProxy has detected
  // it, by the first refused connection or by two health checks.
  function configuration(): string {
    const servers = {
      postgres: postgresNodes.map(
        ({ name, port, restPort }) => `server ${name} 127.0.0.1:${port} check port ${restPort}`,
      ),
      plants: serviceNodes.map(({ name, port }) => `server ${name} 127.0.0.1:${port} check`),
      /** Lets clients choose a node to race each other. While that node is down, HAProxy chooses any. */
      choice: serviceNodes.map(({ name }) => `use-server ${name} if { req.hdr(x-node) ${name} }`),
    };
    return `
defaults
  timeout connect 2s
  timeout check 2s
  timeout client 1m
  timeout server 1m

${postgresNodes.length > 0 ? postgresSection(servers.postgres) : ''}
listen plants
  bind 127.0.0.1:${httpPort}
  mode http
  timeout http-keep-alive 1m
  balance roundrobin
  option httpchk GET /readyz
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response
  http-request disable-l7-retry unless METH_GET or METH_POST
  http-error status 503 content-type application/json string '{"error":50300,"message":"No node is ready"}' hdr retry-after 1
  default-server inter 200ms fall 2 rise 1 observe layer4 error-limit 1 on-error mark-down
  ${servers.choice.join('\n  ')}
  ${servers.plants.join('\n  ')}

listen stats
  bind 127.0.0.1:${statsPort}
  mode http
  stats enable
  stats uri /
`;
  }

  function postgresSection(servers: string[]): string {
    return `
listen postgres
  bind 127.0.0.1:${postgresPort}
  mode tcp
  timeout client 1h
  timeout server 1h
  retries 1
  option httpchk GET /primary
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
  ${servers.join('\n  ')}
`;
  }
}
