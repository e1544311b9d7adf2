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

const byName = (a: object, b: object) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1);
const VIEWS = ['report_plants', 'report_changes', 'report_tokens', 'report_webhooks', 'report_deliveries'];

for (const table of ['plants', 'changes', ...VIEWS]) {
  test(`docs/reference/sql-schema.md has the columns of ${table} on both databases`, needsPostgres, async () => {
    const [, section = ''] = SCHEMA.split(`\n## ${table}\n`);
    const rows = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \| (\w+) \| (\w+) \|/gm)];
    const { databaseUrl } = await startTestService();
    // A computed column of a view, such as a time or a name, has no declared type in SQLite.
    const sqlite = query(
      databaseUrl.replace(/^sqlite:/, ''),
      `SELECT name, iif(type = '', 'TEXT', type) AS type FROM pragma_table_info('${table}')`,
    );
    // A column that only one database has is of the type "none" on the other.
    assert.deepEqual(
      rows.map(([, name, type]) => ({ name, type })).filter(({ type }) => type !== 'none'),
      sqlite,
    );
    const columns = `
      SELECT attname AS name, replace(format_type(atttypid, NULL), 'timestamp with time zone', 'timestamptz') AS type
      FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum`;
    const postgres = await queryPostgres(await makeDatabase(), columns, table);
    assert.deepEqual(
      rows
        .map(([, name, , type]) => ({ name, type }))
        .filter(({ type }) => type !== 'none')
        .sort(byName),
      postgres.sort(byName),
    );
  });
}

test('each query in docs/reference/sql-schema.md runs on one of the databases', needsPostgres, async () => {
  const blocks = [...SCHEMA.matchAll(/^```sql\n(.*?)^```$/gms)].flatMap(([, block = '']) => block.split(';\n'));
  const queries = blocks.filter((text) => /^(SELECT|WITH) /.test(text));
  assert.ok(queries.length >= 7);
  const { databasePath } = await startTestService();
  const url = await makeDatabase();
  for (const text of queries) {
    const onSqlite = Promise.try(query, databasePath, text);
    await assert.doesNotReject(Promise.any([onSqlite, queryPostgres(url, text)]), text);
  }
});
