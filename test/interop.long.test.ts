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
import { startTestService, type TestService } from '../testing/service.ts';
import { GENERATORS, generateClient, runTool, walkWith } from './interop/generate.ts';
import { installTools } from './interop/install.ts';
import { canCarry, startPrism, type Violation, violationsOf } from './interop/prism.ts';
import { LIST_SCENARIOS } from './list-scenarios.ts';
import { RECORD_SCENARIOS } from './record-scenarios.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';

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
  const port = await startPrism(folderOfTools, server.url);
  const found: string[] = [];
  const scenarios = Object.values({ ...SCENARIOS, ...RECORD_SCENARIOS, ...LIST_SCENARIOS }).flat();
  const carried = scenarios.filter(canCarry);
  for (const scenario of carried) {
    const violations = await violationsIn(port, server, scenario);
    found.push(...violations.map(({ location, message }) => `${scenario.name}: ${location.join('.')}: ${message}`));
  }
  assert.deepEqual(found, []);
  assert.ok(carried.length > 280, `Prism has carried only ${carried.length} scenarios`);
  await server.stop();
});

/** Returns violations of the response, and those of the request if the server accepts it. */
async function violationsIn(port: number, { secret }: TestService, scenario: Scenario): Promise<Violation[]> {
  const { send: sent, authorization = 'Bearer GOOD', status } = scenario;
  const headers = {
    ...sent.headers,
    ...(authorization !== null && { authorization: authorization.replace('GOOD', secret) }),
  };
  const answer = await send(port, { ...sent, path: sent.path?.replace('GOOD', secret) ?? '/', headers });
  assert.equal(answer.status, status, scenario.name);
  const isAccepted = status < 400 && !(scenario.name in TOLERATED);
  return violationsOf(answer).filter(({ location }) => location[0] === 'response' || isAccepted);
}

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
