// docs/access.md as a reader follows it: its commands, its settings.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { readConfig } from '../src/config/config.ts';
import { makeFolder, needsCurl } from '../testing/server.ts';
import { startTestService, type TestService } from '../testing/service.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCS = readFileSync(join(ROOT, 'docs/access.md'), 'utf8');

let server: TestService;
before(async () => {
  server = await startTestService();
});
after(() => server.stop());

test('the commands for tokens do what is said', needsCurl, async () => {
  const [, section = ''] = /\n## Tokens\n(.*?)\n## /s.exec(DOCS) ?? [];
  const commands = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text).join('');
  const { stdout: printed } = await promisify(execFile)('sh', ['-ec', toHere(commands)], {
    cwd: ROOT,
    env: { ...process.env, DATABASE_URL: server.databaseUrl },
  });
  assert.match(printed, /^pst_\w{36}\n\[/);
  assert.match(
    printed,
    /"name": "stranger",\s+"scopes": \[\s+"plants:read"\s+\],\s+"created": .*\s+"expires": .*\s+"rate": "10\/s"/,
  );
  assert.match(printed, /^\[\{"id":.*"name":"shop","scopes":\["plants:read"\],.*"expires":"2099-.*"rate":"100\/s"/m);
  assert.match(printed, /^\{"id":"tok_\w+","name":"shop".*"rotating":".*","status":"active","secret":"pst_\w{36}"\}$/m);
  assert.match(printed, /HTTP\/1\.1 204 No Content/);
});

test('the settings that are shown are taken', () => {
  const settings: Record<string, string> = {};
  for (const [, name = '', value = ''] of DOCS.matchAll(/\b([A-Z]+_[A-Z]+|HOST|PORT)=(\S+?)[`\s]/g)) {
    if (!value.startsWith('$')) settings[name] = value;
  }
  assert.deepEqual(Object.keys(settings).sort(), [
    ...[
      'ACCESS_LOG',
      'BASE_PATH',
      'HOST',
      'JWT_AUDIENCE',
      'JWT_ISSUER',
      'JWT_RATE',
      'LOG_LEVEL',
      'PORT',
      'TLS_CERT',
      'TLS_KEY',
    ],
  ]);
  readConfig(settings);
});

function toHere(commands: string): string {
  return commands.replaceAll(':3000', `:${server.port}`).replaceAll('made.json', join(makeFolder(), 'made.json'));
}
