// Notifies other nodes of new changes, and receives their notifications. A notification is only a hint, which may be
// lost or late. Followers of the change log also poll it.

import type pg from 'pg';
import type { ReportBug } from '../../observability/bug-report.ts';
import type { CommitCounter } from '../commit-counter.ts';
import { addChangeTimes } from './change-times.ts';
import { connectClient } from './connect.ts';
import { failureOf, TransactionError } from './pg-errors.ts';
import type { Transactions } from './transaction.ts';

const CHANNEL = 'plant_store_changes';
/** Minimum interval between notifications. NOTIFY delays commits, so it is never part of a commit of a request. */
const NOTIFY_EVERY_MS = 100;
const RECONNECT_MS = 1000;

export interface ListenOptions {
  url: string;
  /** Id of this node, which ignores its own notifications. Its threads share it. */
  node: string;
  onChanges(): void;
  reportBug: ReportBug;
}

export interface NotifierOptions {
  transactions: Transactions;
  /** Commits of all threads of this node. Those of other nodes must not count, because two nodes would echo them. */
  commits: CommitCounter;
  node: string;
  reportBug: ReportBug;
}

/**
 * Notifies the other nodes of the commits of all threads of this node, at most once in NOTIFY_EVERY_MS. The same statement
 * adds the next changes to `change_times`, so that no write waits for it.
 */
export function startNotifier({ transactions, commits, node, reportBug }: NotifierOptions): { close(): Promise<void> } {
  let notified = commits.value;
  let sending: Promise<void> | undefined;
  let pausing: NodeJS.Timeout | undefined;
  let isClosed = false;
  void notifyOfNext();

  return {
    /** Sends the last notification if one is due. */
    async close() {
      isClosed = true;
      clearTimeout(pausing);
      await sending;
      if (commits.value !== notified) await send();
    },
  };

  async function notifyOfNext(): Promise<void> {
    await commits.next(notified);
    if (isClosed) return;
    sending = send();
    await sending;
    if (!isClosed) pausing = setTimeout(notifyOfNext, NOTIFY_EVERY_MS).unref();
  }

  async function send(): Promise<void> {
    notified = commits.value;
    try {
      const text = `WITH added AS (${addChangeTimes(transactions.names.tables)}) SELECT pg_notify($1, $2)`;
      await transactions.write({ text, values: [CHANNEL, node] });
    } catch (error) {
      if (!isUnreachable(error)) reportBug(error);
    }
  }
}

/** Listens for notifications from other nodes on a connection of its own, which it replaces if it fails. */
export function listenForChanges({ url, node, onChanges, reportBug }: ListenOptions): { close(): Promise<void> } {
  let listener: pg.Client | undefined;
  let reconnect: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** True behind a pooler, where this node has no session of its own to listen in. */
  let cannotListen = false;
  void listen();

  return {
    async close() {
      isClosed = true;
      clearTimeout(reconnect);
      await listener?.end().catch(() => {});
    },
  };

  async function listen(): Promise<void> {
    try {
      const client = await connectClient(url);
      listener = client;
      if (isClosed) return void (await client.end());
      client.on('end', reconnectLater);
      client.on('notification', ({ payload }) => {
        if (payload !== node) onChanges();
      });
      cannotListen = await isBehindPooler(client);
      if (cannotListen) await client.end();
      else await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      if (!isUnreachable(error)) reportBug(error);
      listener?.end().catch(() => {});
      reconnectLater();
    }
  }

  function reconnectLater(): void {
    if (isClosed || cannotListen) return;
    clearTimeout(reconnect);
    reconnect = setTimeout(listen, RECONNECT_MS).unref();
  }
}

/** True for an error that requests already report. */
function isUnreachable(error: unknown): boolean {
  return (error instanceof TransactionError ? error.failure : failureOf(error)) !== 'bug';
}

/** True if the connection goes through a pooler, which assigns its own process id to it. */
export async function isBehindPooler(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0]?.pid !== (client as pg.Client & { processID: number }).processID;
}
