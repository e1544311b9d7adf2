// Tests of /metrics on the real process: all documented metrics, and a bounded set of labels.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { DatabaseSync } from 'node:sqlite';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { DATABASES } from '../../../testing/both-databases.ts';
import { type Call, callerOf, send } from '../../../testing/request.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { eventually } from '../../../testing/until.ts';
import { mintSecret } from '../../domain/token-secret.ts';

test('the bug counter starts at 0, so that the first bug shows as an increase', async () => {
  const server = await startTestService();
  const { secret } = await server.addToken({ scopes: ['admin', 'plants:read'] });
  const call = callerOf(server, secret);
  const count = async () => /^plant_store_bugs_total (\d+)$/m.exec((await call('GET', '/metrics')).body)?.[1];
  assert.equal(await count(), '0');
  const db = new DatabaseSync(server.databasePath, { timeout: 5000 });
  db.exec('ALTER TABLE plants RENAME TO weeds');
  db.close();
  const { status, body } = await call('GET', '/plants/1');
  assert.deepEqual([status, JSON.parse(body).error], [500, 50000]);
  assert.equal(await count(), '1');
  await server.stop();
});

for (const [title, databaseOf, needs] of DATABASES) {
  suite(`/metrics on ${title}`, needs, () => {
    let server: TestService;
    let call: Call;
    before(async () => {
      const databaseUrl = await databaseOf();
      server = await startTestService({ ...(databaseUrl && { databaseUrl }) });
      const { secret } = await server.addToken({ scopes: ['admin', 'plants:read', 'plants:write'] });
      call = callerOf(server, secret);
    });
    after(() => server.stop());

    async function read(): Promise<Map<string, number>> {
      const { status, headers, body } = await call('GET', '/metrics');
      assert.equal(status, 200);
      assert.match(headers['content-type'] ?? '', /^text\/plain; version=0\.0\.4/);
      const values = new Map<string, number>();
      for (const line of body.trim().split('\n')) {
        if (/^# (HELP|TYPE) [a-z_]+ ./.test(line)) continue;
        const [, name, value] = /^([a-z_]+(?:\{(?:[a-z]+="[^"]*",?)*\})?) (\S+)$/.exec(line) ?? [];
        assert.ok(name !== undefined && Number.isFinite(Number(value)), line);
        assert.ok(!values.has(name), `${name} comes twice`);
        values.set(name, Number(value));
      }
      return values;
    }

    test('report requests by route and status, durations, commits, batches and rejected requests', async () => {
      for (let id = 1; id <= 20; id++) await call('POST', '/plants', { id, name: 'x' });
      await call('POST', '/plants', { id: 1, name: 'other' });
      for (const id of [1, 2, 9223372036854775807n]) await call('GET', `/plants/${id}`);
      await call('GET', '/plants/a/b/c');
      const { secret: reader } = await server.addToken({ scopes: ['plants:read'] });
      const { secret: expired } = await server.addToken({ expiresMs: 1 });
      const limited = await server.addToken({ rate: { count: 1, periodMs: 3_600_000 } });
      for (const secret of ['pst_x', mintSecret(), expired, reader, limited.secret, limited.secret]) {
        await callerOf(server, secret)('POST', '/plants', { id: 1, name: 'x' });
      }
      await send(server.port, { path: '/plants' });

      const values = await read();
      const of = (name: string) => values.get(name) ?? 0;
      assert.equal(of('plant_store_requests_total{method="POST",route="/plants",status="200"}'), 21);
      assert.equal(of('plant_store_requests_total{method="POST",route="/plants",status="400"}'), 1);
      assert.equal(of('plant_store_requests_total{method="GET",route="/plants/{id}",status="200"}'), 2);
      assert.equal(of('plant_store_requests_total{method="GET",route="/plants/{id}",status="404"}'), 1);
      assert.equal(of('plant_store_requests_total{method="",route="",status="404"}'), 1);
      const took = 'plant_store_request_duration_seconds';
      assert.equal(of(`${took}_count{method="GET",route="/plants/{id}"}`), 3);
      assert.equal(of(`${took}_bucket{method="GET",route="/plants/{id}",le="+Inf"}`), 3);
      assert.ok(of(`${took}_sum{method="GET",route="/plants/{id}"}`) > 0);
      const refused = (reason: string) => of(`plant_store_refused_total{reason="${reason}"}`);
      assert.deepEqual(
        ['no_credentials', 'malformed', 'unknown', 'expired', 'scope', 'rate'].map(refused),
        [1, 1, 1, 1, 1, 1],
      );
      assert.equal(refused('revoked'), 0);
      assert.ok(of('plant_store_batch_writes_count') >= 20);
      assert.ok(of('plant_store_batch_writes_sum') >= 20);
      assert.ok(of('plant_store_commit_duration_seconds_count') >= 20);
      assert.ok(of('plant_store_commit_duration_seconds_sum') > 0);
      assert.ok(values.has('plant_store_waiting_writes'));
      assert.ok(of('plant_store_event_loop_delay_seconds{percentile="100"}') < 5);
      assert.ok(of('process_cpu_seconds_total') > 0.1);
      assert.ok(of('process_resident_memory_bytes') > 10e6);
      assert.equal(of('plant_store_last_change'), 20);
      assert.ok(of('plant_store_database_bytes') > 10e3);
      if (process.platform === 'linux') {
        assert.ok(of('process_open_fds') > 5);
        assert.ok(of('process_max_fds') >= of('process_open_fds'));
      }
    });

    test('have consistent buckets, and no label comes from client input', async () => {
      const names = [...(await read()).keys()];
      for (const path of ['/plants/12345', '/secret-path', '/plants?q=needle', '/tokens/tok_needle', '/plants/%zz']) {
        for (const method of ['GET', 'DELETE', 'BREW']) await call(method, path).catch(() => {});
      }
      const values = await read();
      const fresh = [...values.keys()].filter((name) => !names.includes(name)).join('\n');
      assert.doesNotMatch(fresh, /12345|needle|secret-path|zz|BREW/);
      const buckets = [...values].filter(([name]) => /_bucket\{method="POST",route="\/plants",/.test(name));
      assert.equal(buckets.length, 14);
      const counts = buckets.map(([, value]) => value);
      assert.deepEqual(
        counts,
        counts.toSorted((a, b) => a - b),
      );
    });

    test('count requests of disconnected clients: a stream as 200, an incomplete request as 400', async () => {
      const before = await read();
      const stream = request({
        port: server.port,
        path: '/events',
        headers: { ...own(), accept: 'text/event-stream' },
      });
      await new Promise((resolve) => stream.on('response', (response) => response.once('data', resolve)).end());
      stream.destroy();
      for (const id of [501, 502, 503]) {
        await call('POST', '/plants', { id, name: 'x' }); // only a write to the stream detects that its client is gone
        await sleep(50);
      }
      const headers = { ...own(), 'content-type': 'application/x-ndjson' };
      const upload = request({ port: server.port, method: 'POST', path: '/plants/import', headers });
      upload.on('error', () => {}).write('{"id":');
      await sleep(200);
      upload.destroy();
      await eventually(async () => {
        const after = await read();
        const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
        assert.equal(grown('plant_store_requests_total{method="GET",route="/events",status="200"}'), 1);
        assert.equal(grown('plant_store_requests_total{method="POST",route="/plants/import",status="400"}'), 1);
      });
    });

    function own(): { authorization: string } {
      return { authorization: `Bearer ${server.secret}` };
    }

    test('count a batch of many writes as one commit', async () => {
      const before = await read();
      const lines = Array.from({ length: 1000 }, (_, n) => `{"id":${1000 + n},"name":"x"}\n`).join('');
      const headers = { authorization: `Bearer ${server.secret}`, 'content-type': 'application/x-ndjson' };
      await send(server.port, { method: 'POST', path: '/plants/import', headers, body: lines });
      await eventually(async () => {
        const after = await read(); // the writer thread reports a commit after its response
        const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
        assert.ok(grown('plant_store_batch_writes_sum') >= 1000);
        assert.ok(grown('plant_store_batch_writes_count') < 20);
      });
    });
  });
}
