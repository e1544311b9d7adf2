// The commands of the README and the docs as a reader follows them. Those of a checkout run in a fresh copy of the
// project in an empty folder, with nothing but npm on the machine.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { leadsToRegistry } from '../packaging/plain-environment.ts';
import { checkoutPages, installedPages } from '../testing/docs-pages.ts';
import { copyProject } from '../testing/packed.ts';
import { needsPostgres } from '../testing/postgres.ts';
import { runPage } from '../testing/run-page.ts';
import { needsCurl, needsTerminal } from '../testing/server.ts';

const TIMEOUT_MS = 600_000;

test('the README runs first in a checkout, since it installs', () => assert.equal(checkoutPages()[0], 'README.md'));

test('the commands of the README and of the pages for a checkout work', {
  timeout: TIMEOUT_MS,
  ...needsCurl,
  ...needsTerminal,
}, async (t) => {
  const folder = copyProject();
  const env = { ...withoutNpm(process.env), npm_config_prefer_offline: 'true' };
  for (const page of checkoutPages()) {
    await t.test(page, () => runPage(page, { folder, env }));
    rmSync(join(folder, 'data'), { recursive: true, force: true }); // each page describes a first start
  }
});

for (const page of installedPages()) {
  test(`the commands of ${page} work as the page describes`, { ...needsCurl, ...needsTerminal, ...needsPostgres }, () =>
    runPage(page),
  );
}

/** Returns the environment without the npm that runs this test, so that the Node of the machine comes first again. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => leadsToRegistry(name) || !/^(npm_|NODE_)/i.test(name));
  const path = env.PATH?.split(':')
    .filter((entry) => !entry.includes('node_modules'))
    .join(':');
  return { ...Object.fromEntries(kept), PATH: path };
}
