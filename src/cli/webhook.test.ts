// Tests of the webhook commands: text on a terminal, JSON when piped, one line and an exit status on errors.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { type Run, runInProcess } from '../../testing/command-line.ts';
import { type Receiver, startReceiver } from '../../testing/receiver.ts';
import { post } from '../../testing/request.ts';
import { makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { eventually } from '../../testing/until.ts';

let server: TestService;
let receiver: Receiver;

function run(args: string[], env: Record<string, string> = {}, columns?: number): Promise<Run> {
  const settings = { DATABASE_URL: server.databaseUrl, WEBHOOK_ALLOW_PRIVATE: '1', ...env };
  return runInProcess(['webhook', ...args], { env: settings, ...(columns && { columns }) });
}

async function json(...args: string[]) {
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** Returns the objects that a list prints, one per line. */
async function rows(...args: string[]) {
  const { status, stdout, stderr } = await run(args);
  assert.equal(status, 0, stderr);
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

const onTerminal = (...args: string[]) => run(args, { NO_COLOR: '1' }, 200);

suite('plant-store webhook', () => {
  let id: string;

  before(async () => {
    server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
    receiver = await startReceiver();
  });
  after(() => server.stop());

  test('after add, a running server delivers; list, deliveries, retry and replay work', async () => {
    const added = await json('add', receiver.url);
    id = added.id;
    assert.match(added.secret, /^whsec_/);
    assert.deepEqual(added.events, ['plant.created']);
    for (const n of [1, 2, 3]) await post(server, `{"id":${n},"name":"Ficus"}`);
    await receiver.count(3);
    await eventually(async () => {
      const [listed] = await rows('list');
      assert.deepEqual([listed.id, listed.status, listed.position, listed.secret], [id, 'active', 3, undefined]);
    });
    const deliveries = await rows('deliveries', id, '--limit', '2', '--before', '3');
    assert.deepEqual(
      deliveries.map(({ seq, status }) => [seq, status]),
      [
        [2, 'delivered'],
        [1, 'delivered'],
      ],
    );
    assert.equal((await run(['deliveries', id, '--status', 'dead'])).stdout, '');
    assert.equal((await json('retry', id, '2')).status, 'waiting');
    await receiver.count(4);
    assert.equal((await json('replay', id, '--from', '1', '--to', '2')).id, id);
    await receiver.count(6);
  });

  test('test prints the result, and its exit status is 1 if the message was not delivered', async () => {
    const { delivered, code } = await json('test', id);
    assert.deepEqual([delivered, code], [true, 200]);
    const { status, stdout } = await run(['test', id], { WEBHOOK_ALLOW_PRIVATE: '0' });
    assert.equal(status, 1);
    assert.match(JSON.parse(stdout).error, /WEBHOOK_ALLOW_PRIVATE/);
  });

  test('rotate prints a new secret, and enable returns the webhook', async () => {
    const rotated = await json('rotate', id);
    assert.match(rotated.secret, /^whsec_/);
    assert.ok(Date.parse(rotated.rotating) > Date.now());
    assert.equal((await json('enable', id)).status, 'active');
  });

  test('update, disable and delivery work on a running server', async () => {
    const args = ['--url', `${receiver.url}?new`, '--events', 'all', '--format', 'event', '--name', 'Été'];
    const updated = await json('update', id, ...args);
    assert.deepEqual([updated.url, updated.format, updated.name], [`${receiver.url}?new`, 'event', 'Été']);
    assert.equal(updated.events.length, 3);
    await post(server, '{"id":9223372036854775807,"name":"Ficus"}');
    const detail = await eventually(async () => {
      const detail = await run(['delivery', id, '4']);
      assert.equal(detail.status, 0, detail.stderr);
      assert.match(detail.stdout, /"status":"delivered"/);
      assert.match(JSON.parse(detail.stdout).request.body, /^\{"type":/); // the server applies the update within 1 s
      return detail.stdout;
    });
    assert.match(detail, /^\{"seq":4,.*"plant":9223372036854775807,.*"history":\[\{"time":[^\n]*\n$/);
    assert.match(JSON.parse(detail).request.body, /^\{"type":"plant.created","timestamp":.*"id":9223372036854775807,/);
    assert.equal(receiver.received.at(-1)?.path, '/hook?new');
    assert.deepEqual((await json('disable', id)).reason, 'A user disabled the webhook');
    assert.equal((await json('enable', id)).status, 'active');
    const { name, format } = await json('update', id, '--name', '', '--format', 'plant');
    assert.deepEqual([name, format], [undefined, 'plant']);
    await json('update', id, '--url', receiver.url, '--events', 'plant.created');
  });

  test('on a terminal, the commands print sentences and tables', async () => {
    const list = await onTerminal('list');
    assert.match(list.stdout, /^ID +NAME +URL +EVENTS +FORMAT +STATUS +SINCE +POSITION +REASON\nwhk_\w+ +- +http/);
    const deliveries = await onTerminal('deliveries', id, '--limit', '1');
    assert.match(deliveries.stdout, /^CHANGE +EVENT +PLANT .* CODE +ERROR\n4 .* delivered +1 .* 200 +-\n$/);
    assert.equal(deliveries.stderr, 'More deliveries match. Use --before 4 or a larger --limit.\n');
    const none = await onTerminal('deliveries', id, '--status', 'dead');
    assert.equal(none.stdout, 'No deliveries found.\n');
    assert.match(
      (await onTerminal('test', id)).stdout,
      /^Delivered from this terminal, with its settings\. The receiver returned 200 after \d+ ms\.\nok\n$/,
    );
    assert.match(
      (await onTerminal('delivery', id, '4')).stdout,
      /^Change +4\nEvent .*\nResponse +ok\n\ncontent-type: .*\nwebhook-event: plant.created\n\n\{"type":.*\}\n\nATTEMPT .*\n2.*Z +\d+ ms +200 +- +ok\n$/s,
    );
    assert.match(
      (await onTerminal('update', id, '--name', 'x')).stdout,
      /^Webhook whk_\w+ sends plant\.created to http:\S+ in the format plant\.\n$/,
    );
    assert.match(
      (await onTerminal('disable', id)).stdout,
      /^Webhook whk_\w+ is disabled\. To deliver the changes after \d+, run ".*plant-store.* webhook enable whk_\w+"\.\n$/,
    );
    assert.match((await onTerminal('enable', id)).stdout, /^Webhook whk_\w+ enabled\. Pending changes after \d+ will/);
    assert.match((await onTerminal('retry', id, '1')).stdout, /^Change 1 is queued for delivery\.\n$/);
    assert.match(
      (await onTerminal('enable', id)).stdout,
      /^Webhook whk_\w+ was already enabled\. Its last processed change is \d+\.\n$/,
    );
    assert.match(
      (await onTerminal('add', receiver.url)).stdout,
      /^whsec_\S+\nWebhook whk_\w+ added for plant\.created\. Deliveries start with the next change\.\n/,
    );
  });

  for (const [args, status, words] of [
    [['add', 'http://example.com/'], 1, /"url" must .*https/],
    [['add', 'nothing'], 1, /"url" must be /],
    [['add', 'https://example.com/', '--events', 'plant.eaten'], 2, /--events must be all, or plant.created/],
    [['add', 'https://example.com/', '--format', 'xml'], 2, /--format must be plant or event, not "xml"/],
    [['add', 'https://example.com/', '--name', 'a\tb'], 2, /--name must have 1 to 100 characters/],
    [['update', 'whk_none'], 2, /Nothing to change\. Add --url, --events, --format or --name\./],
    [['update', 'whk_none', '--name', 'x'], 3, /No webhook /],
    [['update', 'whk_none', '--url', 'http://example.com/'], 1, /"url" must .*https/],
    [['update', 'whk_none', '--format', 'xml'], 2, /--format must be plant or event/],
    [['update', 'whk_none', '--events', 'x'], 2, /--events must be all, or/],
    [['disable', 'whk_none'], 3, /No webhook /],
    [['delivery', 'whk_none', '1'], 3, /No webhook /],
    [['delivery', 'whk_none', 'x'], 2, /<seq> must be an integer/],
    [['remove', 'whk_none'], 3, /No webhook .*whk_none/],
    [['remove', 'x'], 2, /A webhook id starts with whk_/],
    [['deliveries', 'whk_none'], 3, /No webhook /],
    [['deliveries', 'whk_none', '--status', 'lost'], 2, /--status must be one of waiting, delivered, dead/],
    [['deliveries', 'whk_none', '--limit', '1001'], 2, /--limit must be an integer from 1 to 1000/],
    [['retry', 'whk_none', '0'], 2, /<seq> must be an integer/],
    [['retry', 'whk_none', '1'], 3, /No webhook /],
    [['replay', 'whk_none', '--from', '2', '--to', '1'], 2, /--to must not be less than --from/],
    [['replay', 'whk_none', '--from', '1'], 3, /No webhook /],
    [['replay', 'whk_none'], 2, /--from/],
    [['test', 'whk_none'], 3, /No webhook /],
    [['rotate', 'whk_none'], 3, /No webhook /],
    [['enable', 'whk_none'], 3, /No webhook /],
  ] as const) {
    test(`${args.join(' ')} fails with status ${status}`, async () => {
      const { stderr, using: _, ...ran } = await run([...args], { WEBHOOK_ALLOW_PRIVATE: '0' });
      assert.deepEqual(ran, { status, stdout: '' });
      assert.match(stderr, words);
      assert.match(stderr, /^plant-store: /);
    });
  }

  test('a missing database is not created', async () => {
    const DATABASE_URL = `sqlite:${join(makeFolder(), 'typo.db')}`;
    const { status, stderr } = await run(['add', 'https://example.com/'], { DATABASE_URL });
    assert.equal(status, 1);
    assert.match(stderr, /No database at /);
  });

  test('remove removes the webhook, and a second remove fails', async () => {
    assert.equal((await run(['remove', id])).status, 0);
    assert.equal((await run(['remove', id])).status, 3);
  });
});
