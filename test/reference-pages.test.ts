// The reference pages that are written by hand, compared with the running service and its databases.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readDescription } from '../testing/description.ts';
import { anchorsOf } from '../testing/markdown.ts';
import { makeDatabase, needsPostgres, queryPostgres } from '../testing/postgres.ts';
import { query } from '../testing/server.ts';
import { startTestService } from '../testing/service.ts';

const REFERENCE = join(import.meta.dirname, '../docs/reference');
const API = readFileSync(join(REFERENCE, 'http-api.md'), 'utf8');
const SCHEMA = readFileSync(join(REFERENCE, 'sql-schema.md'), 'utf8');
/** Requests that the page names although the description has no such operation. */
const NOT_DESCRIBED = ['GET /', 'GET /docs', 'POST /mcp', 'GET /plants/import'];

test('docs/reference/http-api.md names every operation of the OpenAPI description, and no other', async () => {
  const { port } = await startTestService();
  const { paths } = await readDescription(port);
  const described = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const named = [...API.matchAll(/`((?:GET|POST|PUT|PATCH|DELETE) \/[\w/{}.]*)/g)].map(([, operation]) => operation);
  assert.deepEqual([...new Set(named)].sort(), [...described, ...NOT_DESCRIBED].sort());
});

test('docs/reference/http-api.md has no section twice, so that links to it are unique', () => {
  const anchors = anchorsOf(API);
  assert.equal(new Set(anchors).size, anchors.length);
});

for (const table of ['plants', 'changes']) {
  test(
    `docs/reference/sql-schema.md has the columns of the table ${table} on both databases`,
    needsPostgres,
    async () => {
      const [, section = ''] = SCHEMA.split(`\n## ${table}\n`);
      const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \| (\w+) \| (\w+) \|/gm)];
      const { databaseUrl } = await startTestService();
      const sqlite = query(databaseUrl.replace(/^sqlite:/, ''), `SELECT name, type FROM pragma_table_info('${table}')`);
      assert.deepEqual(
        rows.map(([, name, type]) => ({ name, type })),
        sqlite,
      );
      const columns = `SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = $1 ORDER BY ordinal_position`;
      const postgres = await queryPostgres(await makeDatabase(), columns, table);
      assert.deepEqual(
        rows.map(([, name, , type]) => ({ name, type })),
        postgres,
      );
    },
  );
}
