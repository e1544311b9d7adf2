// Tools of others work with the OpenAPI description and with the server: generators of clients, linters, a validating
// proxy, and the linter of Prometheus. test/interop has the tools and the calls that the clients make.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { send } from '../testing/request.ts';
import { makeFolder, needs } from '../testing/server.ts';
import { startTestService } from '../testing/service.ts';
import { GENERATORS, generateClient, runTool, walkWith } from './interop/generate.ts';
import { installTools } from './interop/install.ts';
import { canCarry, startPrism, startRelay, violationsOf } from './interop/prism.ts';
import { LIST_SCENARIOS } from './list-scenarios.ts';
import { RECORD_SCENARIOS } from './record-scenarios.ts';
import { SCENARIOS, toRequest } from './scenarios.ts';

/** Requests that the server accepts, although Prism reports a violation. */
const TOLERATED: Record<string, string> = {
  'the scheme ignores case': 'Prism requires "Bearer" with a capital letter, unlike RFC 9110',
  'a limit of 400 digits': 'the server accepts more than the described int32',
  'a time with an offset, whose plus sign is not encoded': 'the server also accepts a time that arrives with a blank',
  'an empty file': 'Prism reports an empty body as a missing one',
};

const tools = await installTools().catch((error: Error) => error);
const installed =
  tools instanceof Error ? { skip: `SKIPPED: the tools cannot be installed: ${tools.message.split('\n')[0]}` } : {};
const folderOfTools = String(tools);

suite('clients that are generated from the description work', installed, () => {
  for (const name of Object.keys(GENERATORS)) {
    test(name, async () => {
      const { url, secret, stop } = await startTestService();
      const folder = mkdtempSync(join(makeFolder(), 'client-'));
      await generateClient(name, folder, folderOfTools, url);
      await walkWith(name, folder, url, secret);
      await stop();
    });
  }
});

test('Spectral finds nothing in the description', installed, async () => {
  const { url, stop } = await startTestService({ env: { BASE_PATH: '/store' } });
  const folder = makeFolder();
  writeFileSync(join(folder, '.spectral.json'), JSON.stringify({ extends: ['spectral:oas'] }));
  const lint = [
    'spectral',
    'lint',
    `${url}/openapi.json`,
    '--ruleset',
    '.spectral.json',
    '--format',
    'json',
    '--quiet',
  ];
  assert.deepEqual(JSON.parse(await runTool(folder, folderOfTools, [...lint, '--fail-severity', 'error'])), []);
  await stop();
});

test('Prism sees no violation in any scenario', installed, async () => {
  const server = await startTestService();
  const relay = await startRelay(server.port);
  const prism = await startPrism(folderOfTools, server.url);
  const prismBeforeRelay = await startPrism(folderOfTools, server.url, relay.url);
  const found: string[] = [];
  for (const scenario of Object.values({ ...SCENARIOS, ...RECORD_SCENARIOS, ...LIST_SCENARIOS }).flat()) {
    const { name, status } = scenario;
    const request = toRequest(scenario, server.secret);
    if (request.method === 'HEAD') continue; // the description has no HEAD
    const isCarried = canCarry(scenario);
    const answer = await (isCarried ? send(prism, request) : relay.sendThrough(prismBeforeRelay, request));
    assert.equal(answer.status, status, name);
    const isSentAsDescribed = isCarried && status < 400 && !(name in TOLERATED);
    for (const { location, message } of violationsOf(answer)) {
      if (location[0] === 'response' || isSentAsDescribed) found.push(`${name}: ${location.join('.')}: ${message}`);
    }
  }
  assert.deepEqual(found, []);
  await server.stop();
});

test('promtool accepts the metrics', needs('promtool'), async () => {
  const server = await startTestService();
  const { secret } = await server.addToken({ scopes: ['admin'] });
  const { body } = await send(server.port, { path: '/metrics', headers: { authorization: `Bearer ${secret}` } });
  const promtool = spawn('promtool', ['check', 'metrics'], { stdio: ['pipe', 'pipe', 'pipe'] });
  promtool.stdin.end(body);
  const [stdout, stderr] = await Promise.all([
    promtool.stdout.toArray(),
    promtool.stderr.toArray(),
    once(promtool, 'close'),
  ]);
  assert.deepEqual([promtool.exitCode, `${stdout.join('')}${stderr.join('')}`], [0, '']);
  await server.stop();
});
