// Connects the command doctor to PostgreSQL, reads the state of the server, and says what to do if that fails.

import pg from 'pg';
import { withDeadline } from '../../lib/deadline.ts';
import { docsPage } from '../../lib/docs-page.ts';
import { UserError } from '../../lib/user-error.ts';
import { connectClient } from '../../storage/postgres/connect.ts';
import { describeConnectionUrl, parseConnectionUrl } from '../../storage/postgres/connection-url.ts';
import { readSettings, type SettingsRow } from '../../storage/postgres/database-checks.ts';
import {
  type PostgresConnection,
  type PostgresFacts,
  readConnection,
  readFacts,
} from '../../storage/postgres/health.ts';
import { destroyWhenLate } from '../../storage/postgres/transaction.ts';

/** Maximum time to connect to each server of the URL, also if its connect_timeout is longer. */
const CONNECT_TIMEOUT_MS = 5000;
/** Maximum time to read the state of the server, which takes a few statements. */
const STATE_TIMEOUT_MS = 10_000;
const DISCONNECT_TIMEOUT_MS = 2000;

const START = 'Start PostgreSQL, or correct host and port in DATABASE_URL.';
const REACH =
  'Check that the machine is on, and that no firewall blocks the port. Correct host and port in DATABASE_URL.';
const NAME = 'Correct the host in DATABASE_URL, or the DNS of this machine.';
const LOGIN = 'Correct user and password in DATABASE_URL. In a password, write @ as %40 and / as %2F.';
const CERTIFICATE =
  'Set sslrootcert in DATABASE_URL to the file of the CA certificate, and use the host name of the certificate.';

/** Advice by SQLSTATE, or by the code of a network or TLS error. */
const ADVICE: Record<string, string> = {
  ECONNREFUSED: `${START} Check listen_addresses in postgresql.conf if it is on another machine.`,
  ENOENT: `${START} The URL names the folder of a Unix socket.`,
  ENOTFOUND: NAME,
  EAI_AGAIN: NAME,
  ETIMEDOUT: REACH,
  EHOSTUNREACH: REACH,
  ENETUNREACH: REACH,
  '28P01': LOGIN,
  '28000': 'Add this role, database and address to pg_hba.conf, or correct DATABASE_URL.',
  '3D000':
    'Correct the name in DATABASE_URL, or create the database: createdb --owner=ROLE --encoding=UTF8 --template=template0 NAME.',
  '53300': 'Raise max_connections in postgresql.conf, or lower DATABASE_POOL_SIZE of the nodes.',
  '57P03': 'PostgreSQL is starting or stopping. Repeat the command in a few seconds.',
};

export interface ServerState {
  settings: SettingsRow;
  connection: PostgresConnection;
  facts: PostgresFacts;
}

/** Returns a connected client. Throws UserError with advice. */
export async function connectToCheck(url: string): Promise<pg.Client> {
  const name = describeConnectionUrl(url);
  try {
    return await connectClient(url, CONNECT_TIMEOUT_MS);
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    const needsPassword = code === undefined && message.includes('SASL') && !parseConnectionUrl(url).hasPassword;
    const reason = needsPassword ? 'it requires a password, but the URL has none' : message || code;
    const verb = error instanceof pg.DatabaseError ? 'use' : 'reach';
    throw new UserError(`cannot ${verb} ${name}: ${reason}. ${adviceOn(message, code)}`);
  }
}

/** Reads the state of the server. Throws UserError if a server that has accepted the connection does not respond. */
export async function readState(client: pg.Client, url: string): Promise<ServerState> {
  const read = async () => {
    const settings = await readSettings(client);
    const connection = await readConnection(client);
    return { settings, connection, facts: await readFacts(client) };
  };
  return withDeadline(read(), STATE_TIMEOUT_MS, () => {
    throw new UserError(
      `${describeConnectionUrl(url)} accepts connections, but has not responded within ${STATE_TIMEOUT_MS / 1000} s. Check its log, its load and its disk.`,
    );
  });
}

/** Closes the connection, also if the server does not respond. */
export async function disconnect(client: pg.Client): Promise<void> {
  await destroyWhenLate(client, client.end(), DISCONNECT_TIMEOUT_MS).catch(() => {});
}

function adviceOn(message: string, code: string | undefined): string {
  const known = code === undefined ? undefined : ADVICE[code];
  if (known !== undefined) return known;
  if (message.includes('does not support SSL'))
    return 'Set ssl = on in postgresql.conf, or remove sslmode from the URL.';
  if (message.includes('SASL')) return LOGIN;
  if (message.includes('timeout')) return REACH;
  if (/CERT|UNABLE_TO_|^ERR_(SSL|TLS)/.test(code ?? '')) return CERTIFICATE;
  return `Correct DATABASE_URL, and check that PostgreSQL is running: see ${docsPage('guides/postgresql.md')}.`;
}
