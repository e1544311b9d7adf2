// Tests of the commands history and changes list on a running server.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { answer, serveInTurn } from '../../testing/scripted-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { until } from '../../testing/until.ts';
import { createClient } from '../client/client.ts';
import { displayWidth } from '../lib/safe-text.ts';

const ID = 9223372036854775807n;

let server: TestService;
let env: Record<string, string>;
let otherToken: { id: string; secret: string };
/** A time between the first and the last changes. */
let between: string;

before(async () => {
  server = await startTestService();
  env = { PLANT_STORE_URL: server.url, PLANT_STORE_TOKEN: server.secret, NO_COLOR: '1' };
  otherToken = await server.addToken({ name: 'other \u001b[2J' });
  const client = createClient({ url: server.url, token: server.secret });
  const other = createClient({ url: server.url, token: otherToken.secret });
  await client.create({ id: ID, name: 'first', tag: 't' });
  await client.create({ id: -5n, name: 'x' });
  const { record } = await client.get(-5n);
  between = await nextTime(record.created);
  await nextTime(between);
  await server.store.patch(ID, { name: 'second' }, { tokenId: 'cli' });
  await other.patch(ID, { name: 'third' });
  await other.delete(-5n);
});
after(() => server.stop());

/** Waits until the clock shows a later millisecond, and returns it. */
async function nextTime(time: string): Promise<string> {
  await until(() => new Date().toISOString() > time);
  return new Date().toISOString();
}

function run(args: string[], columns?: number): Promise<Run> {
  return runInProcess(args, { env, ...(columns !== undefined && { columns }) });
}

async function changesOf(...args: string[]): Promise<[seq: number, name: string, tokenName: string | undefined][]> {
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line)).map(({ seq, plant, tokenName }) => [seq, plant.name, tokenName]);
}

test('history prints the changes of a plant, newest first, with exact ids and token names', async () => {
  const { stdout } = await run(['history', String(ID)]);
  assert.equal(stdout.split(`"plant":{"id":${ID},`).length, 4);
  const expected = [
    [4, 'third', 'other \u001b[2J'],
    [3, 'second', undefined],
    [1, 'first', 'test'],
  ];
  assert.deepEqual(await changesOf('history', String(ID)), expected);
  const some = await run(['history', String(ID), '--limit', '2']);
  assert.equal(some.stdout, stdout.split('\n').slice(0, 2).join('\n').concat('\n'));
  assert.equal(some.stderr, 'More changes match. Use --all or a larger --limit.\n');
  const gone = await run(['history', '-5']);
  assert.deepEqual([gone.status, gone.stderr], [3, 'plant-store: No plant has id -5\n']);
});

test('history and changes list print one line per change on a terminal, with the author', async () => {
  const { stdout } = await run(['history', String(ID)], 120);
  const time = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ`;
  assert.match(
    stdout,
    new RegExp(
      [
        `^ +4  ${time}  updated  ${ID}  third \\(t\\)  by other \\\\x1b\\[2J`,
        ` +3  ${time}  updated  ${ID}  second \\(t\\)  by cli`,
        ` +1  ${time}  created  ${ID}  first \\(t\\)  by test\n$`,
      ].join('\n'),
    ),
  );
  const narrow = await run(['changes', 'list', '--limit', '1'], 77);
  assert.equal(displayWidth(narrow.stdout.trimEnd()), 77, narrow.stdout);
  assert.match(narrow.stdout, / first \(… {2}by test\n$/);
});

test('changes list filters by type, token and time, in both orders', async () => {
  assert.deepEqual(
    (await changesOf('changes', 'list')).map(([seq]) => seq),
    [1, 2, 3, 4, 5],
  );
  const seqs = async (...args: string[]) => (await changesOf('changes', 'list', ...args)).map(([seq]) => seq);
  assert.deepEqual(await seqs('--desc', '--limit', '2'), [5, 4]);
  assert.deepEqual(await seqs('--type', 'plant.deleted'), [5]);
  assert.deepEqual(await seqs('--token', otherToken.id, '--desc'), [5, 4]);
  assert.deepEqual(await seqs('--token', 'cli'), [3]);
  assert.deepEqual(await seqs('--until', between, '--desc'), [2, 1]);
  assert.deepEqual(await seqs('--since', between, '--all'), [3, 4, 5]);
  assert.deepEqual(await seqs('--since', '1h', '--until', '2026-01-01T00:00:00+02:00'), []);
  assert.deepEqual(await seqs('--since', '1h', '--type', 'plant.updated'), [3, 4]);
  assert.equal((await run(['changes', 'list', '--token', 'tok_x'], 80)).stdout, 'No changes found.\n');
});

test('changes list continues after pages that are empty because they scan a limited number of changes', async () => {
  const plants = Array.from({ length: 6000 }, (_, n) => ({ id: BigInt(n), name: 'x' }));
  await server.store.import(plants, { tokenId: 'cli' });
  assert.deepEqual(await changesOf('changes', 'list', '--desc', '--type', 'plant.deleted'), [
    [5, 'x', 'other \u001b[2J'],
  ]);
  const all = await changesOf('changes', 'list', '--all');
  assert.equal(all.length, 6005);
});

test('watch asks for the newest change number, and opens no export', async () => {
  const { url, requests } = await serveInTurn([
    answer(200, '', { 'last-seq': '1042' }),
    answer(410, '{"error":41000,"message":"pruned"}'),
  ]);
  const { status } = await run(['watch', '--url', url]);
  assert.equal(status, 1);
  assert.deepEqual(
    requests.map(({ method, url: path, headers }) => [method, path, headers['last-event-id']]),
    [
      ['HEAD', '/events?limit=1', undefined],
      ['GET', '/events', '1042'],
    ],
  );
});
