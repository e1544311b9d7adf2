// Starts a real PgBouncer in transaction mode: each transaction can use another session.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { UNPRIVILEGED } from './postgres.ts';
import { makeFolder } from './server.ts';

export interface PgBouncer {
  url: string;
  stop(): Promise<void>;
}

/** Number of sessions: few for many clients, so that clients share them. */
export async function startPgBouncer(databaseUrl: string, sessions = 3): Promise<PgBouncer> {
  const { hostname, port: serverPort, pathname, username } = new URL(databaseUrl);
  const folder = makeFolder();
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(join(folder, 'users.txt'), `"${username}" ""\n`);
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
pool_mode = transaction
default_pool_size = ${sessions}
max_client_conn = 500
`,
  );
  const owner = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  if (owner.uid) for (const path of [folder, file, join(folder, 'users.txt')]) chownSync(path, owner.uid, owner.gid);
  const child = spawn('pgbouncer', [file], { ...owner, stdio: ['ignore', 'ignore', 'pipe'] });
  let printed = '';
  child.stderr.on('data', (chunk) => {
    printed += chunk;
  });
  for (let waitedMs = 0; !(await isListening(port)); waitedMs += 20) {
    if (child.exitCode !== null || waitedMs > 5000) throw new Error(`PgBouncer did not start: ${printed}`);
    await sleep(20);
  }
  return {
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
