// Measures how times and sizes change as the store grows: imports, exports, reads and creates on SQLite with 10
// thousand, 1 million and 10 million records, in turns. `--save` writes the results and a chart to docs/results.

import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { measureCreates } from './growth-creates.ts';
import { type Latency, measureReads } from './growth-reads.ts';
import { type Growth, type StoreGrowth, toTable } from './growth-table.ts';
import { exportOverHttp, importByCommand, importOverHttp, waitForNameOrder } from './growth-transfer.ts';
import { readMachine } from './machine.ts';
import { rssMibOf } from './measure.ts';
import { RESULTS, savePicture } from './picture.ts';
import { toNdjson, writePlants } from './plants.ts';
import { growthPicture } from './plot-growth.ts';
import { makeBenchFolder, startTokenedServer, type TokenedServer } from './server.ts';
import { isWrkHere } from './wrk.ts';

const SIZES = (process.env.BENCH_SIZES ?? '10000,1000000,10000000').split(',').map(Number);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 9);
const READS = Number(process.env.BENCH_READS ?? 3000);
/** Upper bound of the ids, which are spaced evenly at any store size. A random id falls between two others. */
const ID_RANGE = 2 ** 52;

interface Store extends Pick<StoreGrowth, 'records' | 'import' | 'httpImport' | 'nameOrderS' | 'httpExport'> {
  path: string;
  server: TokenedServer;
}

const folder = makeBenchFolder();

const stores: Store[] = [];
for (const records of SIZES) {
  console.error(`Importing and exporting ${records.toLocaleString('en')} records`);
  stores.push(await fill(records));
}
console.error(`Reading, ${READS} requests of each kind`);
const reads = await measureReads(
  stores.map(({ server, records }) => ({
    server,
    anyId: (random) => (1 + Math.floor(random() * records)) * spacing(records),
  })),
  READS,
);
console.error(
  isWrkHere ? `Creating, ${ROUNDS} rounds` : 'wrk is missing, so creates are skipped: run apt-get install wrk',
);
const created = await measureCreates(
  stores.map(({ server }) => ({ server, idsBelow: ID_RANGE })),
  isWrkHere ? ROUNDS : -1,
  folder,
);
const growth: Growth = { date: new Date().toISOString().slice(0, 10), machine: readMachine(folder), stores: [] };
for (const [at, store] of stores.entries()) growth.stores.push(await finish(store, at));
console.log(toTable(growth));
if (process.argv.includes('--save')) {
  await savePicture('growth', growthPicture(growth), RESULTS);
  writeFileSync(join(RESULTS, 'growth.json'), `${JSON.stringify(growth, toShort, 2)}\n`);
}

async function fill(records: number): Promise<Store> {
  const file = { path: join(folder, 'plants.ndjson'), records };
  await writePlants(file.path, records, (plant) => toNdjson({ ...plant, id: plant.id * spacing(records) }));
  const thrownAway = join(folder, 'command.db');
  const imported = await importByCommand(thrownAway, file);
  rmSync(thrownAway);
  const path = join(folder, `${records}.db`);
  const server = await startTokenedServer(`sqlite:${path}`);
  const httpImport = await importOverHttp(server, file);
  const nameOrderS = await waitForNameOrder(server);
  const httpExport = await exportOverHttp(server, records);
  rmSync(file.path);
  return { records, path, server, import: imported, httpImport, nameOrderS, httpExport };
}

async function finish({ path, server, ...store }: Store, at: number): Promise<StoreGrowth> {
  const { creates, count = 0 } = created[at] ?? {};
  const rssMib = rssMibOf(server.pid) ?? 0;
  await server.stop(); // the shutdown copies the WAL into the file
  return {
    ...store,
    reads: reads[at] as Record<string, Latency>,
    ...(count > 0 && creates && { creates }),
    rssMib,
    recordsInTheEnd: store.records + count,
    fileMib: statSync(path).size / 1024 / 1024,
  };
}

function toShort(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value;
}

function spacing(records: number): number {
  return Math.floor(ID_RANGE / records);
}
