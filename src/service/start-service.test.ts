// Tests of the service inside a process: several at once, stops at any time, and no leaks after a failed start.

import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, Server } from 'node:net';
import { suite, test } from 'node:test';
import { BatchSpanProcessor } from '@opentelemetry/sdk-trace';
import { makeDatabase, needsPostgres, queryPostgres } from '../../testing/postgres.ts';
import { makeFolder } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { readConfig } from '../config/config.ts';
import { UserError } from '../lib/user-error.ts';
import type { ServiceEvent } from '../observability/service-events.ts';
import { type Service, startService } from './start-service.ts';

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'exit'];

function start(env: Record<string, string>, events: ServiceEvent[] = []): Promise<Service> {
  const config = readConfig({ PORT: '0', DATABASE_URL: `sqlite:${makeFolder()}/plants.db`, ...env });
  return startService(config, { observe: (event) => events.push(event), onFailure() {} });
}

async function listenElsewhere(t: { after(work: () => void): void }): Promise<string> {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  return String((other.address() as AddressInfo).port);
}

suite('startService()', () => {
  test('runs two services in one process and handles no signals', async () => {
    const listeners = () => SIGNALS.map((name) => getEventListeners(process, name).length);
    const before = listeners();
    const services = await Promise.all([start({}), start({ BASE_PATH: '/store' })]);
    assert.deepEqual(listeners(), before);
    for (const { url, isFirstStart } of services) {
      assert.equal((await fetch(`${url}/healthz`)).status, 200);
      assert.equal(isFirstStart, true);
    }
    const [first, second] = services as [Service, Service];
    await first.stop('the test ends it');
    assert.equal((await fetch(`${second.url}/healthz`)).status, 200);
    await second.stop('the test ends it');
    await assert.rejects(fetch(`${second.url}/healthz`));
  });

  test('stops only once when stop() is called several times', async () => {
    const events: ServiceEvent[] = [];
    const service = await start({ THREADS: '3' }, events); // the other threads are still starting
    await Promise.all([service.stop('one'), service.stop('other')]);
    await service.stop('late');
    const kinds = events.map(({ kind }) => kind);
    assert.deepEqual(kinds, ['store_created', 'listening', 'stopping', 'stopped']);
  });

  test('rejects the port of a service whose threads share it', async () => {
    const service = await start({ THREADS: '2' });
    const { port } = new URL(service.url);
    await assert.rejects(
      start({ THREADS: '2', PORT: port }),
      new UserError(`Port ${port} on 127.0.0.1 is in use. Set PORT or --port to another port.`),
    );
    await service.stop('the test ends it');
  });

  test('creates no store when the port is in use', async (t) => {
    const path = `${makeFolder()}/plants.db`;
    const env = { DATABASE_URL: `sqlite:${path}` };
    const port = await listenElsewhere(t);
    await assert.rejects(
      start({ ...env, PORT: port }),
      new UserError(`Port ${port} on 127.0.0.1 is in use. Set PORT or --port to another port.`),
    );
    assert.equal(existsSync(path), false);
    await (await start(env)).stop('the test ends it');
  });

  test('opens its port only once', async (t) => {
    const listen = t.mock.method(Server.prototype, 'listen'); // calls through
    await (await start({})).stop('the test ends it');
    assert.equal(listen.mock.callCount(), 1);
  });

  test('stops tracing when the port is in use or the database cannot be opened', async (t) => {
    const shutdown = t.mock.method(BatchSpanProcessor.prototype, 'shutdown'); // calls through
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' };
    await assert.rejects(start({ ...env, PORT: await listenElsewhere(t) }), UserError);
    assert.equal(shutdown.mock.callCount(), 1);
    await assert.rejects(start({ ...env, DATABASE_URL: `sqlite:${makeFolder()}` }), /is a folder/);
    assert.equal(shutdown.mock.callCount(), 2);
  });

  test('leaves no connection to PostgreSQL when the port is in use', needsPostgres, async (t) => {
    const url = await makeDatabase();
    await assert.rejects(start({ DATABASE_URL: url, PORT: await listenElsewhere(t) }), UserError);
    const others = 'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
    await until(async () => (await queryPostgres(url, others)).length === 0);
  });
});
