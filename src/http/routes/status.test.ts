// Tests of GET /status on both databases, and of the commands status and backup that belong to it.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import packageJson from '../../../package.json' with { type: 'json' };
import { DATABASES } from '../../../testing/both-databases.ts';
import { runInProcess } from '../../../testing/command-line.ts';
import { checkedCallerOf, readDescription } from '../../../testing/description.ts';
import { startReceiver } from '../../../testing/receiver.ts';
import { type Call, callerOf } from '../../../testing/request.ts';
import { makeFolder } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { until } from '../../../testing/until.ts';
import { createClient } from '../../client/client.ts';
import { SCOPES } from '../../domain/names.ts';
import type { ServiceStatus } from '../../domain/service-status.ts';

for (const [title, databaseOf, needs] of DATABASES) {
  suite(`GET /status, on ${title}`, needs, () => {
    let server: TestService;
    let secret: string;
    let call: Call;
    const startedMs = Date.now();

    before(async () => {
      const databaseUrl = await databaseOf();
      server = await startTestService({
        ...(databaseUrl && { databaseUrl }),
        env: { WEBHOOK_ALLOW_PRIVATE: '1' },
        timeouts: { eventKeepAliveMs: 100 },
      });
      secret = (await server.addToken({ scopes: [...SCOPES] })).secret;
      call = await checkedCallerOf(server, secret);
    });
    after(() => server.stop());

    async function readStatus(): Promise<ServiceStatus> {
      const { status, headers, body } = await call('GET', '/status');
      assert.deepEqual([status, headers['cache-control']], [200, 'no-store'], body);
      return JSON.parse(body);
    }

    test('has the facts, the counts and the limits, with the same fields on both databases', async () => {
      await call('POST', '/plants', { id: 1, name: 'Monstera' });
      const { body } = await call('POST', '/plants', { id: 2, name: 'Ficus' });
      assert.ok(body);
      const status = await readStatus();
      assert.deepEqual(Object.keys(status), [
        ...['version', 'started', 'database', 'plants', 'lastChange', 'deliveries', 'refused', 'hours'],
        ...['connections', 'limits'],
      ]);
      assert.equal(status.version, packageJson.version);
      assert.ok(Date.parse(status.started) >= startedMs && Date.parse(status.started) <= Date.now());
      assert.equal(status.database.kind, title === 'SQLite' ? 'sqlite' : 'postgres');
      const { lastSeq, bytes, schemaVersion } = await server.store.stats();
      assert.deepEqual([status.plants, status.lastChange], [2, lastSeq]);
      assert.equal(status.database.schemaVersion, schemaVersion);
      assert.ok(bytes > 4096 && status.database.bytes > 4096 && schemaVersion >= 4);
      assert.deepEqual(status.deliveries, { pending: 0 });
      assert.equal(status.limits.databaseConnections === undefined, title === 'SQLite');
      assert.deepEqual([status.limits.bodyBytes, status.limits.exportsPerToken], [65_536, 4]);
    });

    test('requires the scope admin', async () => {
      assert.equal((await callerOf(server, server.secret)('GET', '/status')).status, 403);
      assert.equal((await call('POST', '/status')).status, 405);
    });

    test('counts requests of this hour with their p99, and refused requests by reason', async () => {
      const before = await readStatus();
      for (let n = 0; n < 5; n++) await callerOf(server, 'pst_wrong')('GET', '/plants');
      await callerOf(server, server.secret)('GET', '/tokens');
      const status = await readStatus();
      assert.equal(status.refused.malformed - before.refused.malformed, 5);
      assert.equal(status.refused.scope - before.refused.scope, 1);
      assert.equal(totalOf(status) - totalOf(before), 7, 'all six and the earlier one for the status itself');
      const { hour = '', p99Milliseconds = 0 } = status.hours.at(-1) ?? {};
      assert.ok(Date.now() - Date.parse(hour) < 2 * 3_600_000 && hour.endsWith(':00:00.000Z'));
      assert.ok(p99Milliseconds > 0 && p99Milliseconds < 60_000);
    });

    test('a long request counts as a request, but its duration not', async () => {
      const before = await readStatus();
      const path = '/events?after=0';
      const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' };
      const sent = request({ port: server.port, path, headers }).end();
      const [response] = await once(sent, 'response');
      response.on('error', () => {});
      await sleep(1500);
      sent.destroy();
      await until(() => server.events.some((event) => event.kind === 'response' && event.route?.path === '/events'));
      const status = await readStatus();
      assert.equal(totalOf(status) - totalOf(before), 2, 'the stream, and the earlier one for the status itself');
      assert.ok((status.hours.at(-1)?.p99Milliseconds ?? 0) < 1500);
    });

    test('counts open connections', async () => {
      const before = (await readStatus()).connections.open;
      const sockets = Array.from({ length: 5 }, () => connect(server.port, '127.0.0.1'));
      await until(async () => (await readStatus()).connections.open >= before + 5);
      for (const socket of sockets) socket.destroy();
      await until(async () => (await readStatus()).connections.open <= before + 1);
    });

    test('counts pending deliveries of enabled webhooks, with the time of the oldest', async () => {
      const receiver = await startReceiver((_request, response) => response.writeHead(500).end());
      const hook = JSON.parse((await call('POST', '/webhooks', { url: receiver.url })).body);
      for (let id = 10; id < 13; id++) await call('POST', '/plants', { id, name: 'x' });
      await until(async () => (await readStatus()).deliveries.pending === 3);
      const { oldest = '' } = (await readStatus()).deliveries;
      assert.ok(Math.abs(Date.parse(oldest) - Date.now()) < 60_000, oldest);
      await call('DELETE', `/webhooks/${hook.id}`);
      assert.deepEqual((await readStatus()).deliveries, { pending: 0 });
    });

    test('the description has a text and an example for every value', async () => {
      const { components } = await readDescription(server.port);
      const schemas = components.schemas as Record<string, Described>;
      const lacking = findLacking(schemas.ServiceStatus ?? {}, 'ServiceStatus');
      assert.deepEqual(lacking, []);
      assert.ok(schemas.Status, 'the name of the health checks stays');
    });

    test('the client and the command status show it', async () => {
      const { version, plants } = await createClient({ url: server.url, token: secret }).status();
      assert.deepEqual([version, plants > 0], [packageJson.version, true]);
      const env = { PLANT_STORE_URL: server.url, PLANT_STORE_TOKEN: secret };
      const piped = await runInProcess(['status'], { env });
      assert.equal(JSON.parse(piped.stdout).version, version, piped.stderr);
      const shown = await runInProcess(['status'], { env, columns: 80 });
      assert.match(shown.stdout, /^Plants +\d+$/m);
      assert.match(shown.stdout, /^Database +(sqlite|postgres), [\d.]+ [KM]iB, schema \d+$/m);
      assert.match(shown.stdout, /^HOUR +REQUESTS +P99\n\d{4}-\d\d-\d\d \d\d:00Z +\d+ +[\d.]+ ms$/m);
      const denied = await runInProcess(['status'], { env: { ...env, PLANT_STORE_TOKEN: server.secret } });
      assert.deepEqual([denied.status, /scope "admin"/.test(denied.stderr)], [5, true], denied.stderr);
    });
  });
}

function totalOf({ hours }: ServiceStatus): number {
  return hours.reduce((sum, { requests }) => sum + requests, 0);
}

interface Described {
  type?: string;
  description?: string;
  examples?: unknown[];
  properties?: Record<string, Described>;
  items?: Described;
}

/** Returns the paths of all properties without a description or, for values, without an example. */
function findLacking({ properties = {}, items }: Described, path: string): string[] {
  if (items) return findLacking(items, `${path}[]`);
  return Object.entries(properties).flatMap(([name, described]) => {
    const own = `${path}.${name}`;
    const isValue = !described.properties && !described.items;
    const lacks = !described.description || (isValue && !described.examples?.length);
    return [...(lacks ? [own] : []), ...findLacking(described, own)];
  });
}

suite('the last backup in GET /status', () => {
  const backUp = (server: TestService, file: string) =>
    runInProcess(['backup', file], { env: { DATABASE_URL: server.databaseUrl } });

  test('has the time, age and size of the last backup that the command wrote', async () => {
    const server = await startTestService();
    const { secret } = await server.addToken({ scopes: ['admin'] });
    const client = createClient({ url: server.url, token: secret });
    assert.equal((await client.status()).lastBackup, undefined);
    const file = join(makeFolder(), 'backup.db');
    const startMs = Date.now();
    assert.equal((await backUp(server, file)).status, 0);
    const { lastBackup } = await client.status();
    const timeMs = Date.parse(lastBackup?.time ?? '');
    assert.ok(timeMs >= startMs && timeMs <= Date.now());
    assert.equal(lastBackup?.bytes, statSync(file).size);
    assert.ok((lastBackup?.ageSeconds ?? -1) >= 0 && (lastBackup?.ageSeconds ?? 60) < 60);
    assert.equal((await backUp(server, file)).status, 1, 'it never overwrites a file');
    assert.deepEqual((await client.status()).lastBackup?.time, lastBackup?.time);
    assert.equal((await backUp(server, `${file}-2`)).status, 0);
    assert.ok(Date.parse((await client.status()).lastBackup?.time ?? '') > timeMs);
  });

  test('a backup succeeds with a warning if it cannot be noted', async () => {
    const server = await startTestService();
    mkdirSync(`${server.databasePath}.last-backup`);
    const { status, stderr } = await backUp(server, join(makeFolder(), 'backup.db'));
    assert.deepEqual([status, /^The backup is complete, but GET \/status/.test(stderr)], [0, true], stderr);
  });

  test('a damaged note counts as none', async () => {
    const server = await startTestService();
    for (const note of ['', '{}', '{"time":"x","bytes":1}', '{"time":"2026-01-01T00:00:00Z","bytes":-1}', 'null']) {
      writeFileSync(`${server.databasePath}.last-backup`, note);
      assert.equal((await server.store.stats()).lastBackup, null, note);
    }
  });
});
