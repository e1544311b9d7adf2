// Tests of the command config: values in force, sources, and secrets that are not shown.

import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../testing/command-line.ts';
import { listSettings } from '../config/settings.ts';

const SECRETS = {
  DATABASE_URL: 'postgres://plants:hidden@db.example.com/plants?sslpassword=hidden',
  PLANT_STORE_TOKEN: 'pst_hidden',
  PLANT_STORE_URL: 'https://me.example.com/store?key=hidden',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/?key=hidden',
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hidden,other=hidden',
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'api-key=hidden',
};

test('config prints every setting as NDJSON, with its value and source', async () => {
  const { status, stdout } = await runInProcess(['config'], { env: { PORT: '8080', HOST: '' } });
  assert.equal(status, 0);
  const settings = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    settings.map(({ name }) => name),
    listSettings().map(({ name }) => name),
  );
  const found = Object.fromEntries(settings.map(({ name, value, source }) => [name, [value, source]]));
  assert.deepEqual(found.PORT, ['8080', 'environment']);
  assert.deepEqual(found.HOST, ['127.0.0.1', 'default']);
  assert.deepEqual(found.DATABASE_URL, [`sqlite:${resolve('data/plants.db')}`, 'default']);
  assert.deepEqual(found.PLANT_STORE_URL, ['http://127.0.0.1:8080/', 'default']);
  assert.deepEqual(found.BASE_PATH, [undefined, 'not set']);
  for (const { meaning } of settings) assert.ok(meaning.length > 10);
});

test('config shows no secret', async () => {
  for (const options of [{ env: SECRETS }, { env: SECRETS, columns: 80 }]) {
    const { status, stdout } = await runInProcess(['config'], options);
    assert.equal(status, 0);
    assert.match(stdout, /db\.example\.com/);
    assert.match(stdout, /api-key=…/);
    assert.doesNotMatch(stdout, /hidden/);
  }
});

test('config fits a terminal, and an invalid setting or option ends it with status 2 and one line', async () => {
  const { stdout } = await runInProcess(['config'], { env: { NO_COLOR: '1' }, columns: 80 });
  assert.match(stdout, /^ {2}PORT = 3000 {2}\(default\)\n {6}Port on which the server listens\./m);
  for (const line of stdout.split('\n').filter((one) => !one.includes('DATABASE_URL ='))) {
    assert.ok(line.length <= 80, line);
  }
  for (const [args, env] of [
    [['config'], { PORT: 'x' }],
    [['config', '--fast'], {}],
    [['config', 'PORT'], {}],
  ] as const) {
    const refused = await runInProcess([...args], { env });
    assert.deepEqual([refused.status, refused.stdout], [2, '']);
    assert.match(refused.stderr, /^plant-store: [^\n]+\n$/);
  }
});
