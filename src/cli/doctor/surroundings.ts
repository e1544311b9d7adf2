// Checks of the command doctor that do not depend on the kind of database: versions, settings, limits, network and clock.

import packageJson from '../../../package.json' with { type: 'json' };
import type { Config } from '../../config/config.ts';
import { isLocalHost } from '../../lib/local-host.ts';
import { countOf } from '../terminal/report.ts';
import { type Check, type Finding, ok, problem, warning } from './finding.ts';

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;
/** A clock before this time is wrong, because the program did not exist yet. */
const FIRST_RELEASE_MS = Date.UTC(2026, 0, 1);
const MAX_CLOCK_ERROR_MS = 1000;

export const SURROUNDINGS: Record<string, Check<Config>> = {
  version: checkVersion,
  settings: checkSettings,
  network: checkNetwork,
  TLS: checkCertificate,
  'open files': checkOpenFiles,
};

async function checkVersion(): Promise<Finding> {
  const { requireMinVersion, sqliteVersion } = await import('../../storage/sqlite/min-version.ts');
  const sqlite = sqliteVersion();
  requireMinVersion(sqlite);
  return ok(`plant-store ${packageJson.version}, Node ${process.versions.node}, SQLite ${sqlite}`);
}

function checkSettings({ warnings }: Config): Finding {
  const [first] = warnings;
  if (first === undefined) return ok('valid');
  const more = warnings.length > 1 ? ` (and ${countOf(warnings.length - 1, 'other')})` : '';
  return warning(`${first.replace(/\.$/, '')}${more}`, 'Correct or remove the variable. The server ignores its value.');
}

function checkNetwork({ host, port, tls, trustProxy }: Config): Finding {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (isLocalHost(host)) return ok(`${address}, reachable from this machine only`);
  if (tls) return ok(`${address}, encrypted with TLS`);
  if (trustProxy !== undefined) return ok(`${address}, behind a proxy (TRUST_PROXY)`);
  return warning(
    `on ${address}, tokens cross the network unencrypted`,
    'Set TLS_CERT and TLS_KEY, or use a reverse proxy with TLS and set TRUST_PROXY.',
  );
}

async function checkCertificate({ tls }: Config): Promise<Finding | undefined> {
  if (!tls) return undefined;
  const { readCertificate } = await import('../../http/core/tls.ts');
  const { X509Certificate } = await import('node:crypto');
  const { validToDate } = new X509Certificate((await readCertificate(tls)).cert);
  const days = Math.floor((validToDate.getTime() - Date.now()) / DAY_MS);
  const until = validToDate.toISOString().slice(0, 10);
  const advice = 'Renew it and replace the files. The server reloads them.';
  if (days < 0) return problem(`the certificate expired on ${until}`, advice);
  if (days < RENEW_DAYS) return warning(`the certificate expires on ${until}`, advice);
  return ok(`the certificate is valid until ${until}`);
}

async function checkOpenFiles(): Promise<Finding | undefined> {
  const [{ countOpenFiles }, { MAX_CONNECTIONS }] = await Promise.all([
    import('../../lib/open-files.ts'),
    import('../../http/core/connection-limits.ts'),
  ]);
  const files = await countOpenFiles();
  if (!files) return undefined;
  const max = files.max?.toLocaleString('en') ?? 'unlimited';
  if (files.max === undefined || files.max > MAX_CONNECTIONS) return ok(`limit ${max}`);
  return warning(
    `limit ${max}, fewer than the ${MAX_CONNECTIONS.toLocaleString('en')} connections that a server accepts`,
    'Raise the limit for the server: "ulimit -n 65536" in a shell, LimitNOFILE=65536 under systemd.',
  );
}

/** The clock of PostgreSQL, compared with the one of this machine. */
interface OtherClock {
  aheadMs: number;
  errorMs: number;
}

/** Compares the clock with the newest change of the store and with the clock of the database. */
export function judgeClock(newestChangeMs: number | undefined, other?: OtherClock): Finding {
  const nowMs = Date.now();
  const now = new Date(nowMs).toISOString().slice(0, 19).concat('Z');
  const advice = 'Synchronize the clock with NTP, for example with systemd-timesyncd or chrony.';
  if (nowMs < FIRST_RELEASE_MS) return problem(`the clock of this machine is wrong: ${now}`, advice);
  if (newestChangeMs !== undefined && newestChangeMs > nowMs + MAX_CLOCK_ERROR_MS) {
    return warning(
      `${now} is before the newest change of the store (${new Date(newestChangeMs).toISOString()})`,
      advice,
    );
  }
  if (other && Math.abs(other.aheadMs) - other.errorMs > MAX_CLOCK_ERROR_MS) {
    const seconds = (Math.abs(other.aheadMs) / 1000).toFixed(1);
    return warning(`${now}, ${seconds} s ${other.aheadMs > 0 ? 'behind' : 'ahead of'} PostgreSQL`, advice);
  }
  return ok(other ? `${now}, as in PostgreSQL` : now);
}
