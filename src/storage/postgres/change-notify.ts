// Notifies other nodes of new changes, and receives their notifications. A notification is only a hint, which may be
// lost or late. Followers of the change log also poll it.

import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import type { ReportBug } from '../../observability/bug-report.ts';
import { connectClient } from './connect.ts';
import { failureOf, TransactionError } from './pg-errors.ts';
import type { Transactions } from './transaction.ts';

const CHANNEL = 'plant_store_changes';
/** Minimum interval between notifications. NOTIFY delays commits, so it is never part of a commit of a request. */
const NOTIFY_EVERY_MS = 100;
const RECONNECT_MS = 1000;

/** Starts listening. Calls `onChanges` for each notification from another node. */
export function startChangeNotify(url: string, { write }: Transactions, onChanges: () => void, reportBug: ReportBug) {
  const self = randomUUID();
  let listener: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** True behind a pooler, where this node has no session of its own to listen in. */
  let cannotListen = false;
  let isPausing = false;
  let isPending = false;
  void listen();

  return {
    /** Notifies the other nodes within NOTIFY_EVERY_MS. */
    notify(): void {
      isPending = true;
      if (!isPausing) send();
    },
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(reconnect);
      await listener?.end().catch(() => {});
    },
  };

  function send(): void {
    isPausing = true;
    isPending = false;
    write({ text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, self] }).catch(reportUnlessUnreachable);
    setTimeout(() => {
      isPausing = false;
      if (isPending && !isClosed) send();
    }, NOTIFY_EVERY_MS).unref();
  }

  async function listen(): Promise<void> {
    try {
      const client = await connectClient(url);
      listener = client;
      if (isClosed) return void (await client.end());
      client.on('end', reconnectLater);
      client.on('notification', ({ payload }) => {
        if (payload !== self) onChanges();
      });
      cannotListen = await isBehindPooler(client);
      if (cannotListen) await client.end();
      else await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      reportUnlessUnreachable(error);
      listener?.end().catch(() => {});
      reconnectLater();
    }
  }

  /** Reports bugs only. Requests already report an unreachable database. */
  function reportUnlessUnreachable(error: unknown): void {
    if ((error instanceof TransactionError ? error.failure : failureOf(error)) === 'bug') reportBug(error);
  }

  function reconnectLater(): void {
    if (isClosed || cannotListen) return;
    clearTimeout(reconnect);
    reconnect = setTimeout(listen, RECONNECT_MS).unref();
  }
}

/** True if the connection goes through a pooler, which assigns its own process id to it. */
export async function isBehindPooler(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as pg.Client & { processID: number }).processID;
}
