// Requests the known vulnerabilities of the production dependencies from the registry, as `npm audit` does.

import { spawn } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const WITHIN_MS = 10_000;
const SEVERE = ['high', 'critical'];

export interface Audit {
  /** Reason why the result is unknown. */
  unknown?: string;
  /** Vulnerabilities of severity high and critical: `severity package: title`. */
  found: string[];
}

interface Report {
  message?: string;
  error?: { code?: string; summary?: string };
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; severity: string })[] }>;
}

/** Runs npm audit. `options` are options of npm, such as another registry. */
export async function audit(...options: string[]): Promise<Audit> {
  const args = ['audit', '--omit=dev', '--audit-level=high', '--json', '--fetch-retries=0', '--audit=true'];
  const child = spawn('npm', [...args, ...options], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const late = setTimeout(() => child.kill('SIGKILL'), WITHIN_MS);
  const printed = await child.stdout.toArray();
  clearTimeout(late);
  if (child.killed) return { unknown: `the registry did not respond within ${WITHIN_MS / 1000} s`, found: [] };
  return read(Buffer.concat(printed).toString());
}

function read(printed: string): Audit {
  const { message, error, vulnerabilities } = JSON.parse(printed || '{}') as Report;
  if (!vulnerabilities) return { unknown: message ?? error?.summary ?? 'npm audit gave no report', found: [] };
  const found = Object.entries(vulnerabilities).flatMap(([name, { via }]) =>
    via
      .filter((cause) => typeof cause === 'object')
      .filter(({ severity }) => SEVERE.includes(severity))
      .map(({ severity, title }) => `${severity} ${name}: ${title}`),
  );
  return { found };
}
