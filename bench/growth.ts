// What becomes slower, or larger, as the store grows: imports, exports, reads and creates on SQLite with 10 thousand,
// 1 million and 10 million records, in turns. With --save it is kept in docs/performance/, and drawn.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Latency, measureReads } from './growth-reads.ts';
import { cpuUsOf, machine, median, memoryMibOf, type Server, startServer } from './growth-server.ts';
import { type Creates, type Growth, type StoreGrowth, toTable } from './growth-table.ts';
import { exportOverHttp, importByCommand, importOverHttp } from './growth-transfer.ts';
import { toNdjson, writePlants } from './plants.ts';
import { isWrkHere, loadCreates } from './wrk.ts';

const SIZES = (process.env.BENCH_SIZES ?? '10000,1000000,10000000').split(',').map(Number);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const ROUND_SECONDS = 4;
const READS = 3000;
/** Ids are spread evenly below it, however many: one at random falls between two others. Above it they ascend. */
const ID_RANGE = 2 ** 52;
const IDS_OF_A_ROUND = 10_000_000;

interface Store extends Omit<StoreGrowth, 'reads' | 'creates' | 'rssMib' | 'fileMib' | 'recordsInTheEnd'> {
  path: string;
  server: Server;
  created: number;
}
type Order = 'ascending' | 'random';

const folder = mkdtempSync(join(tmpdir(), 'plant-store-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

const stores: Store[] = [];
for (const records of SIZES) stores.push(await fill(records));
say(`Reads, ${READS} of each kind`);
const reads = await measureReads(
  stores.map(({ server, records }) => ({
    server,
    anyId: (random) => (1 + Math.floor(random() * records)) * spacing(records),
  })),
  READS,
);
if (!isWrkHere) say('wrk is not installed: no creates');
const creates = isWrkHere ? await measureCreates() : undefined;
const growth: Growth = { machine: machine(), stores: stores.map(toGrowth) };
for (const { server } of stores) await server.stop();
console.log(toTable(growth));

async function fill(records: number): Promise<Store> {
  say(`Import and export of ${records.toLocaleString('en')} records`);
  const file = { path: join(folder, 'plants.ndjson'), records };
  await writePlants(file.path, records, (plant) => toNdjson({ ...plant, id: plant.id * spacing(records) }));
  const thrownAway = join(folder, 'command.db');
  const imported = await importByCommand(thrownAway, file);
  rmSync(thrownAway);
  const path = join(folder, `${records}.db`);
  const server = await startServer(path);
  const httpImport = await importOverHttp(server, file);
  const httpExport = await exportOverHttp(server, records);
  rmSync(file.path);
  return { records, path, server, created: 0, import: imported, httpImport, httpExport };
}

/** For each store, medians. The first round is not counted. */
async function measureCreates(): Promise<Record<Order, Creates>[]> {
  const all = stores.map((): Record<Order, Creates[]> => ({ ascending: [], random: [] }));
  for (let round = 0; round <= ROUNDS; round++) {
    say(`Creates, round ${round} of ${ROUNDS}`);
    for (const order of ['ascending', 'random'] as const) {
      for (const [at, store] of stores.entries()) {
        const measured = await create(store, order, round);
        if (round > 0) all[at]?.[order].push(measured);
      }
    }
  }
  return all.map(({ ascending, random }) => ({ ascending: medians(ascending), random: medians(random) }));
}

async function create(store: Store, order: Order, round: number): Promise<Creates> {
  const { url, secret, pid } = store.server;
  const beforeUs = cpuUsOf(pid);
  const { requests, perSecond } = await loadCreates({
    url,
    secret,
    folder,
    firstId: ID_RANGE + round * IDS_OF_A_ROUND,
    ...(order === 'random' && { randomBelow: ID_RANGE }),
    seconds: ROUND_SECONDS,
  });
  store.created += requests;
  return { perSecond, cpuUs: (cpuUsOf(pid) - beforeUs) / requests };
}

function medians(all: Creates[]): Creates {
  return { perSecond: median(all.map((one) => one.perSecond)), cpuUs: median(all.map((one) => one.cpuUs)) };
}

function toGrowth({ path, server, created, ...store }: Store, at: number): StoreGrowth {
  return {
    ...store,
    reads: reads[at] as Record<string, Latency>,
    ...(creates && { creates: creates[at] as Record<Order, Creates> }),
    rssMib: memoryMibOf(server.pid, 'VmRSS'),
    recordsInTheEnd: store.records + created,
    fileMib: statSync(path).size / 1024 / 1024,
  };
}

function spacing(records: number): number {
  return Math.floor(ID_RANGE / records);
}

function say(text: string): void {
  console.error(text);
}
