// One HAProxy: a port where the PostgreSQL that leads answers, whichever it is, and a port with the service nodes
// behind it, of which any may stop and start without a client noticing.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePorts, type Machine } from './machine.ts';
import type { PostgresNode } from './postgres-cluster.ts';

const UP_WITHIN_MS = 30_000;
const REQUEST_MS = 2000;

export type Balancer = Awaited<ReturnType<typeof startBalancer>>;

/** Without a PostgreSQL it balances the service alone. */
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
    await eventually('HAProxy has found the one PostgreSQL that leads', UP_WITHIN_MS, async () => {
      return (await namesUp('postgres')).length === 1 || undefined;
    });
  }
  return {
    /** Where the PostgreSQL that leads is. */
    postgresPort,
    /** Of the service. */
    url: `http://127.0.0.1:${httpPort}`,
    /** Ends when requests are sent to the node again. */
    async serves(nodeName: string): Promise<void> {
      await eventually(`HAProxy sends requests to ${nodeName}`, UP_WITHIN_MS, async () => {
        return (await namesUp('plants')).includes(nodeName) || undefined;
      });
    },
  };

  /** Of the servers in a section of the configuration. */
  async function namesUp(section: string): Promise<string[]> {
    const response = await fetch(`http://127.0.0.1:${statsPort}/;csv`, { signal: AbortSignal.timeout(REQUEST_MS) });
    const rows = (await response.text()).split('\n').map((line) => line.split(','));
    return rows.flatMap(([proxy, name = '', ...values]) =>
      proxy === section && name !== 'BACKEND' && values.includes('UP') ? [name] : [],
    );
  }

  // What is sent again, and to whom:
  // - No connection, nothing sent: to another node at once ("option redispatch 1"), whatever the request.
  // - Sent, and the connection closed without an answer: reads, and POST, which stores a plant once however often it
  //   comes. A PUT, PATCH or DELETE may have been done, and another's may have followed: the client has to look.
  // A node that stops refuses new connections and keeps the others open for half a second: by then it has been found
  // out by the first that was refused, or by two checks.
  function configuration(): string {
    const servers = {
      postgres: postgresNodes.map(
        ({ name, port, restPort }) => `server ${name} 127.0.0.1:${port} check port ${restPort}`,
      ),
      plants: serviceNodes.map(({ name, port }) => `server ${name} 127.0.0.1:${port} check`),
      /** For those who want to race through different nodes. While the one they name is down, it is any. */
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
