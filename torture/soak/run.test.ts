import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('a soak test of six seconds has no failed requests and delivers changes', async () => {
  const script = join(import.meta.dirname, 'run.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, '--minutes', '0.1']).catch(
    (failed) => failed, // its output is more useful than the error
  );
  const [, requests, webhooks] =
    /([\d,]+) requests in 0\.1 minutes, ([\d,]+) webhooks delivered, 0 failures/.exec(stdout) ?? [];
  assert.ok(Number(requests?.replace(',', '')) > 100, stdout);
  assert.ok(Number(webhooks?.replace(',', '')) > 30, stdout);
});
