// plant-store list: pages of a running server as they come, in a table or as lines of JSON.

import type { ListQuery, PlantRecord, PlantStoreClient } from '../client/client.ts';
import type { Config } from '../config/config.ts';
import { readCount } from './numbers.ts';
import { READS, type ServerOptions, withServer } from './remote.ts';
import { createPlantTable } from './terminal/plant-table.ts';
import { jsonLine, wantsJson } from './terminal/report.ts';
import { writeOut } from './terminal/write-out.ts';

const DEFAULT_LIMIT = 100;
const PAGE = 1000;
const USUAL_WIDTH = 80;

interface ListOptions extends ServerOptions {
  tag?: string;
  search?: string;
  limit?: string;
  all?: true;
  json?: boolean;
}

export async function listPlants(config: Config, options: ListOptions): Promise<void> {
  const max = options.all ? Number.POSITIVE_INFINITY : limitOf(options);
  const print = wantsJson(options) ? toLines : createPlantTable(process.stdout.columns || USUAL_WIDTH);
  let count = 0;
  let thereIsMore = false;
  await withServer(config, options, (client) => writeOut(printed(client)), READS);
  if (thereIsMore) {
    process.stderr.write(`There are more: add --all, or a larger --limit\n`);
  } else if (count === 0 && !wantsJson(options)) {
    process.stdout.write('No plants\n');
  }

  async function* printed(client: PlantStoreClient): AsyncGenerator<string> {
    const query: ListQuery = { tag: options.tag, q: options.search };
    do {
      const page = await client.list({ ...query, limit: Math.min(PAGE, max - count) });
      if (page.records.length > 0) yield print(page.records);
      count += page.records.length;
      query.cursor = page.next;
    } while (query.cursor !== undefined && count < max);
    thereIsMore = query.cursor !== undefined;
  }
}

function limitOf({ limit }: ListOptions): number {
  return limit === undefined ? DEFAULT_LIMIT : readCount('--limit', limit, 1);
}

function toLines(records: PlantRecord[]): string {
  return records.map(jsonLine).join('');
}
