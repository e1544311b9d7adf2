// The metrics reference, the dashboard and the alert rules match the metrics of a real server.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { readTraces } from '../src/config/otel-config.ts';
import { SETTINGS } from '../src/config/settings.ts';
import { parseDuration } from '../src/lib/duration.ts';
import { callerOf } from '../testing/request.ts';
import { makeFolder } from '../testing/server.ts';
import { startTestService } from '../testing/service.ts';
import { until } from '../testing/until.ts';

const DOCS = join(import.meta.dirname, '../docs');
const METRICS = readFileSync(join(DOCS, 'reference/metrics.md'), 'utf8');
const MONITORING = readFileSync(join(DOCS, 'guides/monitoring.md'), 'utf8');
const TRACING = readFileSync(join(DOCS, 'guides/tracing.md'), 'utf8');
const DASHBOARD = JSON.parse(readFileSync(join(DOCS, 'grafana.json'), 'utf8'));
const ALERTS = readFileSync(join(DOCS, 'alerts.yml'), 'utf8');
/** The age of the last backup, in intervals between backups, from which the alert and the dashboard warn. */
const MISSED_BACKUPS = 3;
/** Labels that Prometheus adds. */
const ADDED = ['job', 'instance'];

interface Target {
  datasource: { uid: string };
  expr: string;
  legendFormat: string;
}
interface Panel {
  id: number;
  type: string;
  title: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: Target[];
}

const panels: Panel[] = DASHBOARD.panels;
const targets = panels.flatMap(({ targets = [] }) => targets);
const alerts = [...ALERTS.matchAll(/^ +expr: (.*)$/gm)].map(([, expr]) => String(expr));
/** Labels of each metric, and the values of each label. */
const metrics = new Map<string, Map<string, Set<string>>>();
let printed = '';

before(async () => {
  const server = await startTestService({ env: { BACKUP_DIR: makeFolder() } });
  const { secret } = await server.addToken({ scopes: ['admin', 'plants:read', 'plants:write'] });
  const call = callerOf(server, secret);
  await call('POST', '/plants', { id: 1, name: 'x' });
  await call('GET', '/plants/1');
  await call('POST', '/plants/import', '');
  for (const path of ['/plants/export', '/events', '/plants?limit=0']) await call('GET', path);
  await until(async () => (await server.store.stats()).lastBackup);
  printed = (await call('GET', '/metrics')).body;
  await server.stop();
  for (const [, name = '', list = ''] of printed.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const labels = metrics.get(name) ?? new Map<string, Set<string>>();
    metrics.set(name, labels);
    for (const [, label = '', value = ''] of list.matchAll(/(\w+)="([^"]*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
});

test('the reference lists the metrics that the server returns, with their types, labels and label values', () => {
  const given = [...printed.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => String(name));
  const listed = [...METRICS.matchAll(/`((?:plant_store|process)_\w+)/g)].map(([, name]) => String(name));
  const hasFiles = process.platform === 'linux';
  assert.deepEqual([...new Set(listed)].filter((name) => hasFiles || !name.endsWith('_fds')).sort(), given.sort());
  for (const [, name = '', list = ''] of METRICS.matchAll(/`(plant_store_\w+)\{([\w,]+)\}`/g)) {
    const labels = metrics.get(name) ?? metrics.get(`${name}_sum`);
    assert.deepEqual([...(labels?.keys() ?? [])], list.split(','), name);
  }
  for (const [, name = '', type = ''] of METRICS.matchAll(/^\| `(\w+)(?:\{[\w,]+\})?` \| (\w+) \|/gm)) {
    if (given.includes(name)) assert.ok(printed.includes(`# TYPE ${name} ${type}\n`), name);
  }
  for (const name of [
    'plant_store_refused_total',
    'plant_store_deliveries_total',
    'plant_store_webhooks',
    'plant_store_backups_total',
  ]) {
    for (const values of metrics.get(name)?.values() ?? []) {
      for (const value of values) assert.ok(METRICS.includes(`\`${value}\``), value);
    }
  }
});

test('the dashboard and the alerts use only existing metrics and labels', () => {
  const variables = DASHBOARD.templating.list.map(({ definition }: { definition: string }) => definition);
  const expressions = [...targets.map(({ expr }) => expr), ...variables, ...alerts];
  assert.ok(targets.length >= 30 && alerts.length >= 10, `${targets.length} and ${alerts.length}`);
  for (const expression of expressions) requireKnown(expression);
  for (const { expr, legendFormat } of targets) {
    const kept = / by \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */) ?? (/^\w*\(?(sum|max|min)\(/.test(expr) ? [] : ADDED);
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) assert.ok(kept.includes(label), expr);
  }
});

test('the check finds unknown metrics and labels', () => {
  for (const wrong of [
    'rate(plant_store_nothing_total[5m])',
    'plant_store_requests_total{code="200"}',
    'plant_store_refused_total{reason="nobody"}',
    'sum by (path) (plant_store_requests_total)',
    'plant_store_waiting_writes_bucket',
  ]) {
    assert.throws(() => requireKnown(wrong), assert.AssertionError, wrong);
  }
});

test('the dashboard shows every metric', () => {
  const shown = targets.map(({ expr }) => expr).join('\n');
  for (const [, name = ''] of printed.matchAll(/^# TYPE (\S+)/gm)) assert.ok(shown.includes(name), name);
});

test('the dashboard can be imported: it has an input for Prometheus, and panels with unique ids and positions', () => {
  assert.deepEqual(
    DASHBOARD.__inputs.map(({ name, pluginId }: { name: string; pluginId: string }) => [name, pluginId]),
    [['DS_PROMETHEUS', 'prometheus']],
  );
  assert.equal(DASHBOARD.id, null);
  assert.match(DASHBOARD.uid, /^[a-z-]{1,40}$/);
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  for (const { datasource } of targets) assert.equal(datasource.uid, `\${${DASHBOARD.__inputs[0].name}}`);
  const needed = new Set(DASHBOARD.__requires.map(({ id }: { id: string }) => id));
  for (const { type } of panels) assert.ok(type === 'row' || needed.has(type), type);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !taken.has(`${x} ${y}`), `${title} overlaps another panel`);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

test('with all jobs and nodes selected, the dashboard shows only plant stores', () => {
  for (const { allValue, definition } of DASHBOARD.templating.list) {
    assert.equal(allValue, undefined, '"All" must be the result of the query');
    assert.match(definition, /^label_values\(plant_store_/);
  }
});

test('the guide creates the token file readable by its owner only', () => {
  const created = MONITORING.split('\n').filter((line) => /token create.*>/.test(line));
  assert.ok(created.length > 0);
  for (const line of created) assert.match(line, /^\(umask 077; /);
});

test('the guide lists every alert', () => {
  const named = [...ALERTS.matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  const listed = [...MONITORING.matchAll(/^\| `(PlantStore\w+)`/gm)].map(([, name]) => name);
  assert.deepEqual(listed, named);
});

test('the server accepts the settings in the guide to tracing', () => {
  const lines = [...TRACING.matchAll(/^((?:OTEL_\S+=\S+ ?)+)(?: *plant-store serve)?$/gm)].map(([, line = '']) => line);
  assert.ok(lines.length >= 3);
  for (const line of lines) {
    const settings = Object.fromEntries(
      line
        .trim()
        .split(' ')
        .map((pair) => pair.split('=')),
    );
    if ('OTEL_TRACES_SAMPLER_ARG' in settings) settings.OTEL_TRACES_SAMPLER = 'parentbased_traceidratio';
    assert.ok(readTraces({ OTEL_TRACES_EXPORTER: 'otlp', ...settings }), line);
  }
});

function requireKnown(expression: string): void {
  const known = new Set(ADDED);
  for (const [, name = '', , list = ''] of expression.matchAll(/\b((?:plant_store|process)_\w+)(\{([^}]*)\})?/g)) {
    const labels = metrics.get(name);
    assert.ok(labels, `no metric has the name ${name}: ${expression}`);
    for (const label of labels.keys()) known.add(label);
    for (const [, label = '', operator = '', value = ''] of list.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
      assert.ok(ADDED.includes(label) || labels.has(label), `${name} has no label ${label}: ${expression}`);
      if (ADDED.includes(label) || label === 'status') continue; // the test causes no errors
      const wanted = operator.includes('~') ? value.split('|') : [value];
      for (const one of wanted)
        assert.ok(labels.get(label)?.has(one), `${label} never has the value "${one}": ${expression}`);
    }
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)) {
    for (const label of list.split(/, */))
      assert.ok(known.has(label), `no metric has the label ${label}: ${expression}`);
  }
}

test('the alert and the dashboard warn after three missed backups of the default interval', () => {
  const limit = (MISSED_BACKUPS * (parseDuration(SETTINGS.BACKUP_EVERY.default) as number)) / 1000;
  const alert = alerts.find((expr) => expr.includes('plant_store_last_backup_timestamp_seconds'));
  assert.equal(alert?.split(' > ').at(-1), String(limit));
  const panel = panels.find(({ title }) => title === 'Age of the last backup');
  assert.ok(JSON.stringify(panel).includes(`{"color":"red","value":${limit}}`));
});
