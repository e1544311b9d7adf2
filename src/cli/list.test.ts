// Tests of the order, filters and count of the command list, and of the command tags.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { answer, serveInTurn } from '../../testing/scripted-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createClient } from '../client/client.ts';

let server: TestService;
let env: Record<string, string>;

before(async () => {
  server = await startTestService();
  env = { PLANT_STORE_URL: server.url, PLANT_STORE_TOKEN: server.secret, NO_COLOR: '1' };
});
after(() => server.stop());

function run(args: string[], columns?: number): Promise<Run> {
  return runInProcess(args, { env, ...(columns !== undefined && { columns }) });
}

async function namesOf(...args: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await run(['list', ...args]);
  assert.equal(status, 0, stderr);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).name);
}

test('tags of an empty store is empty when piped, and a sentence on a terminal', async () => {
  const empty = await startTestService();
  const own = { ...env, PLANT_STORE_URL: empty.url, PLANT_STORE_TOKEN: empty.secret };
  assert.equal((await runInProcess(['tags'], { env: own })).stdout, '');
  assert.equal((await runInProcess(['tags'], { env: own, columns: 80 })).stdout, '0 plants without a tag.\n');
  await empty.stop();
});

test('list sorts, matches any of several tags, and counts', async () => {
  const client = createClient({ url: server.url, token: server.secret });
  await client.create({ id: 3n, name: 'Étoile', tag: 'flower' });
  await client.create({ id: 1n, name: 'fern', tag: '' });
  await client.create({ id: 2n, name: 'Birch', tag: 'tree' });
  await client.create({ id: 9223372036854775807n, name: 'acer', tag: 'tree' });
  await client.create({ id: -1n, name: 'Clover' });

  assert.deepEqual(await namesOf('--sort', 'name'), ['acer', 'Birch', 'Clover', 'Étoile', 'fern']);
  assert.deepEqual(await namesOf('--sort', '-name', '--limit', '2'), ['fern', 'Étoile']);
  assert.deepEqual(await namesOf('--sort', 'name', '--offset', '3'), ['Étoile', 'fern']);
  assert.deepEqual(await namesOf('--offset', '1', '--limit', '1'), ['fern']);
  assert.deepEqual(await namesOf('--offset', '5', '--all'), []);
  assert.deepEqual(await namesOf('--sort=-id'), ['acer', 'Étoile', 'Birch', 'fern', 'Clover']);
  assert.deepEqual(await namesOf('--sort', 'updated'), ['Étoile', 'fern', 'Birch', 'acer', 'Clover']);
  assert.deepEqual(await namesOf('--tag', 'tree', '--tag', 'flower', '--sort', 'name'), ['acer', 'Birch', 'Étoile']);
  assert.deepEqual(await namesOf('--tag', ''), ['fern']);
  assert.deepEqual(await namesOf('--untagged'), ['Clover']);
  assert.deepEqual(await namesOf('--untagged', '--tag', 'tree'), ['Clover', 'Birch', 'acer']);

  for (const [args, expected] of [
    [[], '5\n'],
    [['--tag', 'tree', '--untagged'], '3\n'],
    [['--search', 'f'], '1\n'],
    [['--tag', 'unused'], '0\n'],
  ] as [string[], string][]) {
    assert.deepEqual(await run(['list', '--count', ...args]), { status: 0, stdout: expected, stderr: '' });
    assert.equal((await run(['list', '--count', ...args], 80)).stdout, expected);
  }
});

test('list --count prints that a filter matches more than 100,000', async () => {
  const { url } = await serveInTurn([answer(200, '[]', { 'total-count': '>100000' })]);
  const { stdout } = await run(['list', '--count', '--search', 'x', '--url', url]);
  assert.equal(stdout, '>100000\n');
});

test('tags prints the most common tags, as NDJSON or as a table', async () => {
  const { stdout } = await run(['tags']);
  assert.equal(stdout, '{"tag":"tree","plants":2}\n{"tag":"","plants":1}\n{"tag":"flower","plants":1}\n');
  const shown = await run(['tags'], 80);
  assert.equal(
    shown.stdout,
    'TAG     PLANTS\ntree         2\n""           1\nflower       1\n1 plant without a tag.\n',
  );
  assert.equal((await run(['tags', '--json'], 80)).stdout, stdout);
  assert.equal((await run(['tags', '--table'])).stdout, shown.stdout);
});

test('tags says that a store has too many different tags, and escapes control characters', async () => {
  const summary = { plants: 10_003, untagged: 2, tags: [] as object[], lastChange: 1, changes: [] };
  const many = await serveInTurn([answer(200, JSON.stringify(summary))]);
  const { stdout } = await run(['tags', '--url', many.url], 80);
  assert.equal(stdout, 'Too many different tags.\n2 plants without a tag.\n');
  summary.tags = [{ tag: 'a\u001b[2J', plants: 1 }];
  const hostile = await serveInTurn([answer(200, JSON.stringify(summary))]);
  const shown = await run(['tags', '--url', hostile.url], 80);
  assert.match(shown.stdout, /^a\\x1b\[2J {7}1$/m);
});

for (const [args, words] of [
  [['list', '--sort', 'size'], /--sort must be one of id, -id, name, -name, updated, -updated, not "size"/],
  [['list', '--count', '--limit', '5'], /'--count' cannot be used with option '--limit <n>'/],
  [['list', '--count', '--sort', 'name'], /'--count' cannot be used with option '--sort <order>'/],
  [['list', '--count', '--offset', '5'], /'--count' cannot be used with option '--offset <n>'/],
  [['list', '--count', '--table'], /'--count' cannot be used with option '--table'/],
  [['list', '--json', '--table'], /'--table' cannot be used with option '--json'/],
  [['list', '--offset', '-1'], /--offset must be an integer of at least 0, not "-1"/],
  [['history'], /Missing required argument 'id'/],
  [['history', 'x'], /An id must be an integer/],
  [['history', '1', '--limit', '0'], /--limit must be an integer of at least 1, not "0"/],
  [['changes', 'list', '--type', 'created'], /--type must be one of plant\.created, .*, not "created"/],
  [['changes', 'list', '--since', 'yesterday'], /--since must be a time such as .* or an age such as 24h, not "yest/],
  [['changes', 'list', '--until', '2026-02-30T00:00:00Z'], /--until must be a time/],
  [['history', '1', '--json', '--table'], /'--table' cannot be used with option '--json'/],
  [['changes', 'list', '--all', '--limit', '1'], /'--all' cannot be used with option '--limit <n>'/],
] as [string[], RegExp][]) {
  test(`${args.join(' ')} is invalid usage`, async () => {
    const { status, stdout, stderr } = await run(args);
    assert.deepEqual([status, stdout], [2, ''], stderr);
    assert.match(stderr, words);
  });
}
