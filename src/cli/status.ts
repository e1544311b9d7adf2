// The command status, which shows the status of a running server.

import type { PlantStoreClient, ServiceStatus } from '../client/client.ts';
import type { CommandContext } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { type ServerOptions, urlOption, withServer } from './remote.ts';
import { jsonLine, wantsJson } from './terminal/report.ts';
import { shortTime, toTable } from './terminal/table.ts';

interface StatusOptions extends ServerOptions {
  json?: boolean;
}

export function declareStatus(command: CliCommand): void {
  command
    .addOption(urlOption())
    .option('--json', 'print JSON (the default when piped)')
    .notes(`
The token in PLANT_STORE_TOKEN needs the scope admin.`)
    .examples('plant-store status', 'plant-store status | jq .lastBackup.ageSeconds')
    .runs(showStatus);
}

async function showStatus(context: CommandContext, options: StatusOptions): Promise<void> {
  const { stdout } = context.io;
  const read = (client: PlantStoreClient) => client.status();
  const status = await withServer(context, options, read, { isRead: true });
  stdout.write(wantsJson(stdout, options) ? jsonLine(stdout, status) : print(status));
}

function print(status: ServiceStatus): string {
  const { database, deliveries, lastBackup, connections, limits } = status;
  const rows: [string, string][] = [
    ['version', status.version],
    ['started', shortTime(status.started, '-')],
    ['database', `${database.kind}, ${toMiB(database.bytes)}, schema ${database.schemaVersion}`],
    ['plants', toCount(status.plants)],
    ['last change', toCount(status.lastChange)],
    ['pending deliveries', toCount(deliveries.pending) + since(deliveries.oldest)],
    ['last backup', lastBackup ? `${shortTime(lastBackup.time, '-')}, ${toMiB(lastBackup.bytes)}` : 'none'],
    ['connections', `${toCount(connections.open)} of ${toCount(limits.connections)}`],
    ['refused requests', printRefused(status.refused)],
  ];
  const hours = status.hours.map(({ hour, requests, p99Milliseconds }) => [
    shortTime(hour, '-'),
    toCount(requests),
    p99Milliseconds === undefined ? '-' : `${p99Milliseconds} ms`,
  ]);
  const traffic = hours.length > 0 ? `\n${toTable(['HOUR', 'REQUESTS', 'P99'], hours)}` : '';
  return toTable(['STATUS', ''], rows) + traffic;
}

function since(time: string | undefined): string {
  return time === undefined ? '' : `, the oldest since ${shortTime(time, '-')}`;
}

function printRefused(refused: ServiceStatus['refused']): string {
  const counts = Object.entries(refused).filter(([, count]) => count > 0);
  return counts.length === 0 ? 'none' : counts.map(([reason, count]) => `${reason} ${toCount(count)}`).join(', ');
}

function toCount(count: number): string {
  return count.toLocaleString('en');
}

function toMiB(bytes: number): string {
  return `${(bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MiB`;
}
