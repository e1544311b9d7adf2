// What operators are given, against a real server: the table of figures, the dashboard and the alerts name nothing that is not there.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { readTraces } from '../src/config/otel-config.ts';
import { callerOf } from '../testing/request.ts';
import { startTestService } from '../testing/service.ts';

const DOCS = join(import.meta.dirname, '../docs');
const PAGE = readFileSync(join(DOCS, 'observability.md'), 'utf8');
const DASHBOARD = JSON.parse(readFileSync(join(DOCS, 'grafana.json'), 'utf8'));
const ALERTS = readFileSync(join(DOCS, 'alerts.yml'), 'utf8');
/** Prometheus adds them. */
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
/** Of each figure, its labels and their values. */
const figures = new Map<string, Map<string, Set<string>>>();
let printed = '';

before(async () => {
  const server = await startTestService();
  const { secret } = await server.addToken({ scopes: ['admin', 'plants:read', 'plants:write'] });
  const call = callerOf(server, secret);
  await call('POST', '/plants', { id: 1, name: 'x' });
  await call('GET', '/plants/1');
  await call('POST', '/plants/import', '');
  for (const path of ['/plants/export', '/events', '/plants?limit=0']) await call('GET', path);
  printed = (await call('GET', '/metrics')).body;
  await server.stop();
  for (const [, name = '', list = ''] of printed.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const labels = figures.get(name) ?? new Map<string, Set<string>>();
    figures.set(name, labels);
    for (const [, label = '', value = ''] of list.matchAll(/(\w+)="([^"]*)"/g)) {
      labels.set(label, (labels.get(label) ?? new Set()).add(value));
    }
  }
});

test('the figures in the table are those that come, with their labels and what these can be', () => {
  const given = [...printed.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => String(name));
  const told = [...PAGE.matchAll(/`((?:plant_store|process)_\w+)/g)].map(([, name]) => String(name));
  const hasFiles = process.platform === 'linux';
  assert.deepEqual([...new Set(told)].filter((name) => hasFiles || !name.endsWith('_fds')).sort(), given.sort());
  for (const [, name = '', list = ''] of PAGE.matchAll(/`(plant_store_\w+)\{([\w,]+)\}`/g)) {
    const labels = figures.get(name) ?? figures.get(`${name}_sum`);
    assert.deepEqual([...(labels?.keys() ?? [])], list.split(','), name);
  }
  for (const figure of ['plant_store_refused_total', 'plant_store_deliveries_total', 'plant_store_webhooks']) {
    for (const values of figures.get(figure)?.values() ?? []) {
      for (const value of values) assert.ok(PAGE.includes(`\`${value}\``), value);
    }
  }
});

test('the dashboard and the alerts ask only for figures and labels that there are', () => {
  const variables = DASHBOARD.templating.list.map(({ definition }: { definition: string }) => definition);
  const expressions = [...targets.map(({ expr }) => expr), ...variables, ...alerts];
  assert.ok(targets.length >= 30 && alerts.length >= 10, `${targets.length} and ${alerts.length}`);
  for (const expression of expressions) requireKnown(expression);
  for (const { expr, legendFormat } of targets) {
    const kept = / by \(([^)]*)\)/.exec(expr)?.[1]?.split(/, */) ?? (/^\w*\(?(sum|max|min)\(/.test(expr) ? [] : ADDED);
    for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) assert.ok(kept.includes(label), expr);
  }
});

test('a figure that nobody has, or a label, would be found', () => {
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

test('every figure is on the dashboard', () => {
  const shown = targets.map(({ expr }) => expr).join('\n');
  for (const [, name = ''] of printed.matchAll(/^# TYPE (\S+)/gm)) assert.ok(shown.includes(name), name);
});

test('the dashboard can be imported: an input for Prometheus, panels with numbers and places of their own', () => {
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
        assert.ok(x < 24 && !taken.has(`${x} ${y}`), `${title} lies upon another`);
        taken.add(`${x} ${y}`);
      }
    }
  }
});

test('with all jobs and nodes the dashboard shows those of plant stores, not every target of that Prometheus', () => {
  for (const { allValue, definition } of DASHBOARD.templating.list) {
    assert.equal(allValue, undefined, 'all is then what the query gives');
    assert.match(definition, /^label_values\(plant_store_/);
  }
});

test('the page that makes a secret into a file makes one that only its owner can read', () => {
  const made = PAGE.split('\n').filter((line) => /token create.*>/.test(line));
  assert.ok(made.length > 0);
  for (const line of made) assert.match(line, /^\(umask 077; /);
});

test('the settings that are shown are taken', () => {
  const [, line = ''] = /^(OTEL_\S+=\S+) npm start$/m.exec(PAGE) ?? [];
  assert.ok(readTraces(Object.fromEntries([line.split('=')])));
});

function requireKnown(expression: string): void {
  const known = new Set(ADDED);
  for (const [, name = '', , list = ''] of expression.matchAll(/\b((?:plant_store|process)_\w+)(\{([^}]*)\})?/g)) {
    const labels = figures.get(name);
    assert.ok(labels, `there is no figure ${name}: ${expression}`);
    for (const label of labels.keys()) known.add(label);
    for (const [, label = '', operator = '', value = ''] of list.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)) {
      assert.ok(ADDED.includes(label) || labels.has(label), `${name} has no label ${label}: ${expression}`);
      if (ADDED.includes(label) || label === 'status') continue; // nothing has gone wrong yet
      const wanted = operator.includes('~') ? value.split('|') : [value];
      for (const one of wanted) assert.ok(labels.get(label)?.has(one), `${label} is never "${one}": ${expression}`);
    }
  }
  for (const [, list = ''] of expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)) {
    for (const label of list.split(/, */)) assert.ok(known.has(label), `nothing has the label ${label}: ${expression}`);
  }
}
