// The command status, which shows the status of a running server.

import type { PlantStoreClient, ServiceStatus } from '../client/client.ts';
import { toSize } from '../lib/size.ts';
import type { CommandContext, Output } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import type { ServerOptions } from './profiles/choose-server.ts';
import { withServer } from './remote.ts';
import { type FormOptions, printAll } from './terminal/report.ts';
import { type Column, toFields, toTable } from './terminal/table.ts';
import { timeToMinute } from './terminal/time.ts';

const HOUR_COLUMNS: Column<ServiceStatus['hours'][number]>[] = [
  { heading: 'HOUR', cell: ({ hour }) => timeToMinute(hour) },
  { heading: 'REQUESTS', cell: ({ requests }) => toCount(requests), isQuantity: true },
  { heading: 'P99', cell: ({ p99Milliseconds: ms }) => (ms === undefined ? ms : `${ms} ms`), isQuantity: true },
];

export function declareStatus(command: CliCommand): void {
  command
    .serverOptions()
    .printsJsonOrTable()
    .notes(`
The token needs the scope admin.`)
    .examples('plant-store status', 'plant-store status | jq .lastBackup.ageSeconds')
    .runs(showStatus);
}

async function showStatus(context: CommandContext, options: ServerOptions & FormOptions): Promise<void> {
  const { stdout } = context.io;
  const read = (client: PlantStoreClient) => client.status();
  const status = await withServer(context, options, read, { isRead: true });
  await printAll(stdout, options, [status], () => print(status, stdout));
}

function print(status: ServiceStatus, stdout: Output): string {
  const { database, deliveries, lastBackup, connections, limits } = status;
  const fields: [string, string][] = [
    ['Version', status.version],
    ['Started', timeToMinute(status.started)],
    ['Database', `${database.kind}, ${toSize(database.bytes)}, schema ${database.schemaVersion}`],
    ['Plants', toCount(status.plants)],
    ['Last change', toCount(status.lastChange)],
    ['Pending deliveries', toCount(deliveries.pending) + since(deliveries.oldest)],
    ['Last backup', lastBackup ? `${timeToMinute(lastBackup.time)}, ${toSize(lastBackup.bytes)}` : 'none'],
    ['Connections', `${toCount(connections.open)} of ${toCount(limits.connections)}`],
    ['Refused requests', printRefused(status.refused)],
  ];
  const traffic = status.hours.length > 0 ? `\n${toTable(HOUR_COLUMNS, status.hours, stdout)}` : '';
  return toFields(fields, stdout) + traffic;
}

function since(time: string | undefined): string {
  return time === undefined ? '' : `, the oldest since ${timeToMinute(time)}`;
}

function printRefused(refused: ServiceStatus['refused']): string {
  const counts = Object.entries(refused).filter(([, count]) => count > 0);
  return counts.length === 0 ? 'none' : counts.map(([reason, count]) => `${reason} ${toCount(count)}`).join(', ');
}

function toCount(count: number): string {
  return count.toLocaleString('en');
}
