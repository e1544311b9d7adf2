// Patroni's configuration for each of the three PostgreSQL servers. A commit always waits for a standby, and only a
// standby with all commits may become the leader. Acknowledged writes survive the loss of any one machine.

import { join } from 'node:path';
import { postgresBin } from './postgres-processes.ts';

/**
 * The two waits are the minimum that Patroni's documentation allows. The TTL is the minimum for them:
 * TTL_S >= LOOP_WAIT_S + 2 * RETRY_TIMEOUT_S. Versions after Debian's 3.0 raise it to 20.
 */
const TTL_S = 8;
const LOOP_WAIT_S = 1;
const RETRY_TIMEOUT_S = 3;

export function patroniConfig(node: {
  name: string;
  port: number;
  restPort: number;
  folder: string;
  etcdPort: number;
  password: string;
}): object {
  const [address, restAddress] = [`127.0.0.1:${node.port}`, `127.0.0.1:${node.restPort}`];
  const { name, folder, password } = node;
  return {
    scope: 'plants',
    name,
    restapi: { listen: restAddress, connect_address: restAddress },
    // Not etcd3: up to Patroni 3.0.2, a leader that hung for too long takes the lock back from its successor there.
    etcd: { host: `127.0.0.1:${node.etcdPort}` },
    watchdog: { mode: 'off' },
    bootstrap: {
      dcs: {
        ttl: TTL_S,
        loop_wait: LOOP_WAIT_S,
        retry_timeout: RETRY_TIMEOUT_S,
        synchronous_mode: true,
        synchronous_mode_strict: true, // otherwise an isolated primary would acknowledge writes that it may lose
        postgresql: { use_pg_rewind: true },
      },
      initdb: ['data-checksums', { encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
    },
    postgresql: {
      listen: address,
      connect_address: address,
      data_dir: join(folder, 'data'),
      bin_dir: postgresBin(),
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
      },
      pg_hba: ['host all all 127.0.0.1/32 scram-sha-256', 'host replication replicator 127.0.0.1/32 scram-sha-256'],
      parameters: {
        unix_socket_directories: '',
        wal_retrieve_retry_interval: '500ms', // with the default of 5 s, writes wait longer for a standby
      },
      basebackup: [{ checkpoint: 'fast' }],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}
