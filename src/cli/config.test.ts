// Tests of the command config: values in force, sources, and secrets that are not shown.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../testing/command-line.ts';
import { makeFolder } from '../../testing/server.ts';
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
  assert.deepEqual(found.PLANT_STORE_URL, ['http://127.0.0.1:8080', 'environment']);
  for (const name of ['BASE_PATH', 'PLANT_STORE_TOKEN', 'JWT_RATE'])
    assert.deepEqual(found[name], [undefined, 'not set']);
  assert.deepEqual(found.OTEL_TRACES_EXPORTER, ['none', 'default']);
  for (const { meaning } of settings) assert.ok(meaning.length > 10);
});

test('config shows no secret', async () => {
  for (const options of [{ env: SECRETS }, { env: SECRETS, columns: 80 }]) {
    const { status, stdout } = await runInProcess(['config'], options);
    assert.equal(status, 0);
    assert.match(stdout, /db\.example\.com/);
    assert.doesNotMatch(stdout, /hidden/);
  }
});

test('config fits a terminal, and an invalid setting or option ends it with status 2 and one line', async () => {
  const { stdout } = await runInProcess(['config'], { env: { NO_COLOR: '1' }, columns: 80 });
  assert.match(stdout, /^ {2}PORT = 3000 {2}\(default\)\n {6}Port on which the server listens\./m);
  for (const line of stdout.split('\n').filter((one) => !one.includes('DATABASE_URL ='))) {
    assert.ok(line.length <= 80, line);
  }
  const narrow = await runInProcess(['config'], { env: { NO_COLOR: '1' }, columns: 40 });
  for (const line of narrow.stdout.split('\n').filter((one) => one.startsWith(' '.repeat(6)))) {
    assert.ok(line.length <= 40 || !line.trim().includes(' '), line);
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

test('config shows the server and the token of the profile that commands use', async () => {
  const folder = makeFolder();
  const path = join(folder, 'plant-store/profiles.json');
  mkdirSync(dirname(path), { recursive: true });
  const profiles = { shop: { url: 'https://shop.example.com', token: 'pst_hidden' } };
  writeFileSync(path, JSON.stringify({ current: 'shop', profiles }), { mode: 0o600 });
  const lines = async (env: Record<string, string>) => {
    const { stdout } = await runInProcess(['config'], { env: { XDG_CONFIG_HOME: folder, ...env } });
    return stdout
      .split('\n')
      .filter((line) => line.includes('PLANT_STORE_'))
      .join('\n');
  };
  const shown = await lines({});
  assert.match(shown, /"PLANT_STORE_URL","value":"https:\/\/shop\.example\.com","source":"profile shop"/);
  assert.match(shown, /"PLANT_STORE_TOKEN","value":"\(set, not shown\)","source":"profile shop"/);
  assert.match(shown, /"PLANT_STORE_PROFILE","value":"shop","source":"current profile"/);
  assert.doesNotMatch(shown, /hidden/);
  assert.match(
    await lines({ PORT: '8080' }),
    /"PLANT_STORE_URL","value":"https:\/\/shop[^"]+","source":"profile shop"/,
  );
  assert.match(
    await lines({ PORT: '8080', XDG_CONFIG_HOME: makeFolder() }),
    /"PLANT_STORE_URL","value":"http:\/\/127\.0\.0\.1:8080","source":"environment"/,
  );
});
