// The views for readers with SQL, compared with the responses of the API on both databases.

import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { makeDatabase, needsPostgres, queryPostgres } from '../testing/postgres.ts';
import { startReceiver } from '../testing/receiver.ts';
import { query } from '../testing/server.ts';
import { eventually, until } from '../testing/until.ts';
import { startWebhookService } from '../testing/webhook-service.ts';

type Row = Record<string, unknown>;
type Read = (sql: string) => Promise<Row[]>;

const VIEWS = ['report_plants', 'report_changes', 'report_tokens', 'report_webhooks', 'report_deliveries'];
/** The last millisecond that RFC 3339 can write, and one that binary fractions cannot hold. */
const TIMES = [253_402_300_799_999, 4_102_444_800_001, 1];

/** Returns a row as JSON of the API has it: without NULL, times as text, integers as numbers. */
function toJson(row: Row): Row {
  const entries = Object.entries(row).filter(([, value]) => value !== null);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, value instanceof Date ? value.toISOString() : plain(value)]),
  );
}

function byId(one: Row, other: Row): number {
  return String(one.id) < String(other.id) ? -1 : 1;
}

function pick(row: Row, ...names: string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => names.includes(name)));
}

function plain(value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}

for (const kind of ['SQLite', 'PostgreSQL'] as const) {
  suite(`the views on ${kind}`, kind === 'SQLite' ? {} : needsPostgres, () => {
    const start = async () => {
      const hooks = await startWebhookService(kind === 'SQLite' ? {} : { databaseUrl: await makeDatabase() });
      const { databasePath, databaseUrl } = hooks.service;
      const read: Read = async (sql) =>
        kind === 'SQLite' ? query(databasePath, sql) : await queryPostgres(databaseUrl, sql);
      const list = async (path: string): Promise<Row[]> => JSON.parse((await hooks.call('GET', path)).body);
      return { ...hooks, read, list };
    };

    test('report_plants and report_changes have the plants and changes of the API', async () => {
      const { call, read, list } = await start();
      for (const id of [7, 8, 9])
        await call('POST', '/plants', { id, name: `Ficus ${id}`, tag: id > 7 ? 't' : undefined });
      await call('PUT', '/plants/8', { name: 'Acer' });
      await call('DELETE', '/plants/9');

      const plants = await read('SELECT id, name, tag, created, updated FROM report_plants ORDER BY id');
      assert.deepEqual(plants.map(toJson), await list('/plants'));
      const etags = await Promise.all([7, 8].map(async (id) => (await call('GET', `/plants/${id}`)).headers.etag));
      const seqs = await read('SELECT seq FROM report_plants ORDER BY id');
      assert.deepEqual(
        seqs.map(({ seq }) => `"${seq}"`),
        etags,
      );

      const changes = (await list('/events')) as { seq: number; plant: Row; token: string }[];
      assert.equal(changes.length, 5);
      const rows = await read('SELECT * FROM report_changes ORDER BY seq');
      assert.deepEqual(
        rows.map(toJson),
        changes.map(({ plant: { id, ...plant }, token, ...change }) => {
          const { tokenName: _, ...known } = change as Row;
          return { ...known, plant_id: id, ...plant, token_id: token, token_name: 'test' };
        }),
      );
    });

    test('report_tokens has the tokens of the API, with exact times', async () => {
      const { service, call, read, list } = await start();
      for (const expiresMs of TIMES) await service.addToken({ expiresMs, rate: { count: 5, periodMs: 60_000 } });
      const { id } = await service.addToken();
      assert.equal((await call('DELETE', `/tokens/${id}`)).status, 204);
      await until(async () => (await list('/tokens')).some(({ lastUsed }) => lastUsed !== undefined));
      await eventually(async () => {
        const tokens = await list('/tokens');
        const rows = (await read('SELECT * FROM report_tokens ORDER BY created, id')).map(toJson);
        assert.deepEqual(
          rows.map(({ revoked, ...row }) => ({ ...row, isRevoked: revoked !== undefined })).toSorted(byId),
          tokens
            .map(({ status, lastUsed, ...token }) => ({
              ...pick(token, 'id', 'name', 'rate', 'created', 'expires'),
              scopes: (token.scopes as string[]).join(' '),
              ...(lastUsed !== undefined && { last_used: lastUsed }),
              isRevoked: status === 'revoked',
            }))
            .toSorted(byId),
        );
        assert.equal(rows.length, TIMES.length + 3);
      });
    });

    test('report_webhooks and report_deliveries have the webhooks and deliveries of the API, without secrets', async () => {
      const { add, call, get, deliveries, read, settled, service } = await start();
      const receiver = await startReceiver((request, response) => {
        response.statusCode = { '/hook/bad': 500, '/hook/gone': 410 }[String(request.url)] ?? 200;
        response.end('response-secret');
      });
      const good = await add(`${receiver.url}/path-secret?key=query-secret`);
      const [bad, gone] = [await add(`${receiver.url}/bad`), await add(`${receiver.url}/gone`)];
      for (const id of [1, 2, 3]) await call('POST', '/plants', { id, name: 'Ficus' });
      await settled(good.id, 3);
      await until(async () => (await get(bad.id)).status === 'failing'); // after three failures
      await until(async () => (await get(gone.id)).status === 'disabled');

      for (const { id } of [good, bad, gone]) {
        await eventually(async () => {
          const webhook = await get(id);
          const [row = {}] = await read(`SELECT * FROM report_webhooks WHERE id = '${id}'`);
          assert.deepEqual(toJson(row), {
            ...pick({ ...webhook }, 'id', 'created', 'status', 'since', 'reason', 'position'),
            host: new URL(webhook.url).host,
            events: webhook.events.join(' '),
          });
        });
        await eventually(async () => {
          const listed = await deliveries(id);
          assert.ok(listed.length > 0);
          const rows = await read(`SELECT * FROM report_deliveries WHERE webhook_id = '${id}' ORDER BY seq DESC`);
          assert.deepEqual(
            rows.map(toJson),
            listed.map(({ event, plant, ...delivery }) => ({
              ...pick(delivery, 'seq', 'status', 'attempts', 'time', 'next', 'code', 'error'),
              webhook_id: id,
              type: event,
              plant_id: plant,
            })),
          );
        });
      }
      const all = await Promise.all(VIEWS.map((view) => read(`SELECT * FROM ${view}`)));
      const shown = all.flat().flatMap(Object.values).join(' ');
      assert.match(shown, /Ficus/);
      const hashes = (await read('SELECT secret_hash FROM tokens')).map(({ secret_hash }) => String(secret_hash));
      const secrets = ['path-secret', 'query-secret', 'response-secret', good.secret, bad.secret, service.secret];
      for (const secret of [...secrets, ...hashes]) assert.ok(!shown.includes(secret), secret);
    });

    test('each view says that changes go through the API, and no role has a right to it', async () => {
      const { read } = await start();
      for (const view of VIEWS) {
        if (kind === 'SQLite') {
          const [row] = await read(`SELECT sql FROM sqlite_schema WHERE name = '${view}'`);
          assert.match(String(row?.sql), /AS\n-- .*Only\s+(-- )?read: changes go\s+(-- )?through the API/s);
          continue;
        }
        const [about] = await read(
          `SELECT obj_description(oid) AS text, relacl FROM pg_class WHERE oid = '${view}'::regclass`,
        );
        assert.match(String(about?.text), /Only read: changes go through the API\.$/);
        assert.equal(about?.relacl, null);
        const columns = await read(
          `SELECT attname FROM pg_attribute WHERE attrelid = '${view}'::regclass AND attnum > 0
           AND col_description(attrelid, attnum) IS NULL`,
        );
        assert.deepEqual(columns, [], `${view} has columns without a comment`);
      }
    });
  });
}
