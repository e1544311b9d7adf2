// Follows docs/guides/webhooks.md: its receiver accepts signed deliveries and rejects any other request.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort } from '../testing/free-port.ts';
import { post, send } from '../testing/request.ts';
import { LAUNCHER, makeFolder } from '../testing/server.ts';
import { startTestService } from '../testing/service.ts';
import { eventually } from '../testing/until.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCS = readFileSync(join(ROOT, 'docs/guides/webhooks.md'), 'utf8');

test('the receiver of docs/guides/webhooks.md verifies deliveries in 15 lines, and starts again without a second webhook', async () => {
  const receiver = blockWith('js', 'createServer');
  assert.ok(receiver.split('\n').filter((line) => line.trim() !== '').length <= 15);
  const port = await freePort();
  const folder = makeFolder();
  writeFileSync(join(folder, 'receiver.mjs'), receiver.replaceAll('8080', String(port)));
  const server = await startTestService({ env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const commands = blockWith('sh', 'webhook add')
    .replace(':8080', `:${port}`)
    .replaceAll(/\bplant-store (?=webhook)/g, `"${process.execPath}" "${LAUNCHER}" `)
    .replace('node receiver.mjs', `exec "${process.execPath}" receiver.mjs`);
  for (const [id, name] of [
    ['9223372036854775807', 'Été'],
    ['2', 'again'],
  ]) {
    const shell = spawn('sh', ['-c', commands], {
      cwd: folder,
      env: { ...process.env, DATABASE_URL: server.databaseUrl },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    shell.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    try {
      const refused = await eventually(() =>
        send(port, { method: 'POST', headers: { 'webhook-id': 'x' }, body: '{}' }),
      );
      assert.equal(refused.status, 401);
      await post(server, `{"id":${id},"name":"${name}"}`);
      await eventually(async () =>
        assert.match(printed, new RegExp(`\\nmsg_\\w+_\\d plant\\.created {"id":${id},"name":"${name}"}\\n$`)),
      );
    } finally {
      shell.kill();
      await once(shell, 'close');
    }
  }
  assert.equal((await server.store.listWebhooks()).length, 1);
  await server.stop();
});

function blockWith(language: string, part: string): string {
  const blocks = [...DOCS.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  const found = blocks.find(([, its, text]) => its === language && text?.includes(part))?.[2];
  assert.ok(found, `The page has no ${language} block with "${part}"`);
  return found;
}
