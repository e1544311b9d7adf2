// Tells other nodes that there are new changes, and hears it from them. It is only a hint, which may be lost or late:
// whoever follows the log looks for itself now and then.

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import type { ReportBug } from '../../observability/bug-report.ts';
import { clientConfig } from './database.ts';
import { failureOf, TransactionError } from './pg-errors.ts';
import type { Transactions } from './transaction.ts';

const CHANNEL = 'plant_store_changes';
/** NOTIFY holds up commits: it is sent this often at most, and never with a commit that somebody waits for. */
const TELL_EVERY_MS = 100;
const RECONNECT_MS = 1000;

export interface Wake {
  tell(): void;
  close(): Promise<void>;
}

export function startWake(url: string, { write }: Transactions, onWake: () => void, reportBug: ReportBug): Wake {
  const self = randomUUID();
  let listener: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;
  /** The session of a pooler is not ours to listen in. */
  let deaf = false;
  let telling = false;
  let untold = false;
  void listen();

  return {
    tell() {
      untold = true;
      if (!telling) tellNow();
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      await listener?.end().catch(() => {});
    },
  };

  function tellNow(): void {
    telling = true;
    untold = false;
    write({ text: 'SELECT pg_notify($1, $2)', values: [CHANNEL, self] }).catch(note); // only a hint
    setTimeout(() => {
      telling = false;
      if (untold && !closed) tellNow();
    }, TELL_EVERY_MS).unref();
  }

  async function listen(): Promise<void> {
    try {
      const client = new pg.Client(clientConfig(url)); // reads the files that the URL names, which may fail
      listener = client;
      client.on('error', () => {});
      client.on('end', again);
      client.on('notification', ({ payload }) => {
        if (payload !== self) onWake();
      });
      await client.connect();
      deaf = await isBehindPooler(client);
      if (deaf) await client.end();
      else await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      note(error);
      listener?.end().catch(() => {});
      again();
    }
  }

  /** Without a connection there is nothing to say: others do. */
  function note(error: unknown): void {
    if ((error instanceof TransactionError ? error.failure : failureOf(error)) === 'bug') reportBug(error);
  }

  function again(): void {
    if (closed || deaf) return;
    clearTimeout(retry);
    retry = setTimeout(listen, RECONNECT_MS).unref();
  }
}

/** A pooler gives out a number of its own for the connection. */
async function isBehindPooler(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query('SELECT pg_catalog.pg_backend_pid() AS pid');
  return rows[0].pid !== (client as unknown as { processID: number }).processID;
}
