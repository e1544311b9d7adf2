// Tests PostgreSQL failures: an outage, a restart as a standby, a lost response, and a commit that hangs or is
// terminated. Suites that stop or configure PostgreSQL start their own.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  makeDatabase,
  needsPostgres,
  openPostgres,
  queryPostgres,
  startPostgres,
  type TestPostgres,
} from '../../../testing/postgres.ts';
import { startProxy } from '../../../testing/proxy.ts';
import { type Answer, post, send } from '../../../testing/request.ts';
import { startServer, type TestServer } from '../../../testing/server.ts';
import { eventually, until } from '../../../testing/until.ts';

const SYNC_WAIT = `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;

suite('PostgreSQL failures', { concurrency: true }, () => {
  suite('an outage of PostgreSQL', { ...needsPostgres, concurrency: 1 }, () => {
    let postgres: TestPostgres;
    let server: TestServer;

    before(async () => {
      postgres = await startPostgres();
      server = await startServer({ databaseUrl: postgres.url });
    });
    after(async () => {
      await server.stop();
      await postgres.remove();
    });

    test('a node that just started survives the outage, and recovers without a restart', async () => {
      await postgres.stop();
      await until(async () => (await get('/readyz')).status === 503);
      assert.equal((await get('/healthz')).status, 200);
      await postgres.start();
      assert.equal((await post(server, '{"id":1,"name":"Ficus"}')).status, 200);
    });

    test('a node reads from a PostgreSQL server that became a standby, and rejects writes with 503', async () => {
      const signal = join(postgres.folder, 'data/standby.signal');
      await postgres.stop();
      writeFileSync(signal, '');
      await postgres.start();
      const create = () => post(server, '{"id":-1,"name":"Ficus"}');
      for (let n = 0; n < 3; n++) assert.equal((await create()).status, 503);
      assert.equal((await get('/plants/1')).status, 200);
      assert.equal((await get('/readyz')).status, 503);
      await postgres.stop();
      rmSync(signal);
      await postgres.start();
      await until(async () => (await create()).status === 200);
    });

    test('a node does not start without PostgreSQL, and reports that it cannot reach the database', async () => {
      await postgres.stop();
      await assert.rejects(
        startServer({ databaseUrl: postgres.url }),
        /Cannot reach postgres:\/\/127\.0\.0\.1:\d+\/postgres: connect ECONNREFUSED/,
      );
      await postgres.start();
    });

    function get(path: string): Promise<Answer> {
      return send(server.port, { path, headers: { authorization: `Bearer ${server.secret}` } });
    }
  });

  suite('a network that loses responses', { ...needsPostgres, concurrency: 1 }, () => {
    test('a create whose response is lost or times out fails with 503, and is then a replay', async (t) => {
      const url = await makeDatabase();
      const proxy = await startProxy(Number(new URL(url).port));
      t.after(proxy.close);
      const through = url.replace(/:\d+\//, `:${proxy.port}/`);
      const store = await openPostgres(through, { statementTimeoutMs: 1000 });
      t.after(store.close);
      const by = { tokenId: 'tok_1' };
      await store.create({ id: 1n, name: 'before' }, by);
      for (const [id, end] of [
        [2n, proxy.drop],
        [3n, () => {}],
      ] as const) {
        await store.get(1n); // leaves an idle connection in the pool
        proxy.isMuted = true;
        const answer = store.create({ id, name: 'Ficus' }, by);
        answer.catch(() => {});
        await until(async () => (await queryPostgres(url, 'SELECT FROM plants WHERE id = $1', id)).length === 1);
        end();
        await assert.rejects(answer, { code: 'unavailable', message: /Send the same record again/ });
        proxy.isMuted = false;
        // The pool can still have a connection that was dropped, whose next response is lost as well.
        const { replayed } = await eventually(() => store.create({ id, name: 'Ficus' }, by));
        assert.equal(replayed, true);
      }
    });
  });

  suite('a commit that waits for a standby', { ...needsPostgres, concurrency: 1 }, () => {
    let postgres: TestPostgres;
    let server: TestServer;

    before(async () => {
      postgres = await startPostgres();
      server = await startServer({ databaseUrl: postgres.url, env: { DATABASE_TIMEOUT_MS: '500' } });
    });
    after(async () => {
      await waitForStandby('');
      await server.stop();
      await postgres.remove();
    });

    test('the statement timeout does not end a commit that waits for a standby', async () => {
      await waitForStandby('nobody');
      const answer = post(server, '{"id":1,"name":"Ficus"}');
      await waitingForStandby();
      await sleep(1500);
      assert.equal((await queryPostgres(postgres.url, SYNC_WAIT)).length, 1, 'the commit was cancelled');
      await waitForStandby('');
      assert.equal((await answer).status, 200);
    });

    test('a create succeeds when a trigger issues an unrelated warning', async () => {
      await queryPostgres(
        postgres.url,
        `CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'x'; RETURN NEW; END $$;
         CREATE TRIGGER warn BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION warn()`,
      );
      assert.equal((await post(server, '{"id":20,"name":"Ficus"}')).status, 200);
      await queryPostgres(postgres.url, 'DROP TRIGGER warn ON plants');
    });

    test('a put without changes also waits for the standby, and a terminated commit is 503', async () => {
      assert.equal((await put('{"name":"Acer"}')).status, 200);
      await waitForStandby('nobody');
      for (const body of ['{"name":"Acer"}', '{"name":"Rosa"}']) {
        const answer = put(body);
        const waiting = await waitingForStandby();
        await queryPostgres(postgres.url, `SELECT pg_terminate_backend($1)`, waiting.pid);
        assert.equal((await answer).status, 503);
      }
      await waitForStandby('');
      assert.equal((await put('{"name":"Rosa"}')).status, 200);
    });

    test('a commit that hangs forever is 503 after the timeout', async () => {
      await waitForStandby('nobody');
      const startMs = performance.now();
      const answer = await post(server, '{"id":3,"name":"Ficus"}');
      assert.equal(answer.status, 503, answer.body);
      assert.ok(performance.now() - startMs < 8000);
      await waitForStandby('');
      assert.equal((await post(server, '{"id":3,"name":"Ficus"}')).status, 200);
    });

    function put(body: string): Promise<Answer> {
      const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/json' };
      return send(server.port, { method: 'PUT', path: '/plants/2', headers, body });
    }

    async function waitForStandby(name: string): Promise<void> {
      await queryPostgres(postgres.url, `ALTER SYSTEM SET synchronous_standby_names = '${name}'`);
      await queryPostgres(postgres.url, 'SELECT pg_reload_conf()');
      await until(async () => {
        const [row] = await queryPostgres(postgres.url, 'SHOW synchronous_standby_names');
        return row?.synchronous_standby_names === name;
      });
      await sleep(200); // until open sessions have reloaded the setting
    }

    function waitingForStandby(): Promise<Record<string, unknown>> {
      return until(async () => (await queryPostgres(postgres.url, SYNC_WAIT))[0]);
    }
  });

  suite('more reads than the store can queue', needsPostgres, () => {
    test('rejected exports do not use an export slot', async () => {
      const store = await openPostgres(await makeDatabase(), { poolSize: 1 });
      const lists = Array.from({ length: 1100 }, () => store.list({ limit: 1 }));
      const exports = await Promise.allSettled(Array.from({ length: 20 }, () => store.export()));
      for (const one of exports) assert.equal(one.status, 'rejected');
      await Promise.allSettled(lists);
      (await store.export()).close();
      await store.close();
    });
  });
});
