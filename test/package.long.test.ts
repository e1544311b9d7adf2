// Tests the npm package as users install it: `npx plant-store` on a plain Node, and the client with its types.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { before, type TestContext, test } from 'node:test';
import { findNode24, type Installed, installPacked, plainEnvironment } from '../testing/packed.ts';
import { makeFolder } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
/** Maximum unpacked size: 0.6 MB of code, and the console. */
const MAX_UNPACKED_BYTES = 3_000_000;
const STOP_WITHIN_MS = 12_000;
const OLD_NODE =
  'data:text/javascript,Object.defineProperty(process,"versions",{value:{...process.versions,node:"24.14.9"}})';

const PROGRAM = `
import { createClient, PlantStoreError, type PlantRecord } from 'plant-store/client';

const store = createClient({ url: process.argv[2] ?? '', token: process.argv[3] ?? '' });
await store.create({ id: 9007199254740993n, name: 'Monstera deliciosa' });
const records: PlantRecord[] = [];
for await (const record of store.walk({ q: 'mon' })) records.push(record);
const id: bigint | undefined = records[0]?.id;
// @ts-expect-error an id is a bigint
const wrong: number = id;
await store.get(5n).catch((error: PlantStoreError) => console.log(wrong === 5, error instanceof PlantStoreError, error.code, id));
`;

let installed: Installed;
before(() => {
  installed = installPacked();
});

test('the package contains only the files that it needs', (t) => {
  const { files, unpackedSize } = installed;
  t.diagnostic(`${files.length} files, ${unpackedSize} bytes unpacked`);
  const paths = files.map(({ path }) => path);
  const strangers = paths.filter(
    (path) =>
      !/^(package\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE|bin\/plant-store\.js|packaging\/plant-store\.service|docs\/([a-z]+\/)?[\w-]+\.md|docs\/background\/[a-z]+\.svg|docs\/grafana\.json|docs\/alerts\.yml|examples\/species\.csv)$/.test(
        path,
      ) &&
      !/^dist\/([a-z-]+\/)*[a-z-]+\.(js|d\.ts)$/.test(path) &&
      !/^dist\/storage\/(sqlite|postgres)\/migrations\/\d{4}_\w+\.sql$/.test(path) &&
      !path.startsWith('dist/console/'),
  );
  assert.deepEqual(strangers, []);
  assert.deepEqual(
    paths.filter((path) => /^(?!docs).*test|(?<!\.d)\.tsx?$/.test(path)),
    [],
  );
  for (const path of ['docs/grafana.json', 'docs/alerts.yml', 'examples/species.csv']) {
    assert.ok(paths.includes(path), `${path}, which the docs mention, is missing`);
  }
  assert.ok(paths.includes('dist/client/client.d.ts') && paths.includes('dist/storage/sqlite/writer-thread.js'));
  assert.ok(unpackedSize < MAX_UNPACKED_BYTES, `${unpackedSize} bytes`);
});

test('the package contains no Node and names it only in engines', () => {
  const installedJson = JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'));
  const projectJson = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  assert.deepEqual(installedJson.engines, { node: '>=24.15.0' });
  assert.equal(installedJson.optionalDependencies, undefined);
  assert.equal(installedJson.private, undefined);
  assert.deepEqual(installedJson.dependencies, projectJson.dependencies);
  for (const name of ['preinstall', 'install', 'postinstall', 'prepare']) {
    assert.equal(installedJson.scripts[name], undefined, `npm would warn of ${name} at each install from a file`);
  }
});

test("npx plant-store serves from an empty folder on the project's Node", (t) => useInstalled(t, process.execPath));

const node24 = findNode24();
test(
  'npx plant-store serves from an empty folder on Node 24',
  {
    skip: node24 === undefined && 'SKIPPED: Node 24 is missing: run npm run package (downloads 50 MB)',
  },
  (t) => useInstalled(t, node24 ?? ''),
);

test('an older Node prints one line with the required version', () => {
  const launcher = join(packageFolder(), 'bin/plant-store.js');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', OLD_NODE, launcher, 'serve'], {
    encoding: 'utf8',
  });
  assert.deepEqual({ status, stdout }, { status: 2, stdout: '' });
  assert.match(stderr, /^plant-store: Node 24\.15 or newer is required, not v\d+.*\n$/);
});

test('the program runs without a compile cache if no folder is writable', () => {
  const launcher = join(packageFolder(), 'bin/plant-store.js');
  for (const env of [{}, { HOME: join(launcher, 'home') }]) {
    const { status, stderr } = spawnSync(process.execPath, [launcher, '--version'], { env, encoding: 'utf8' });
    assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  }
});

test('a TypeScript program compiles against the types of the client', () => {
  for (const name of ['@types', 'undici-types'])
    symlinkSync(join(ROOT, 'node_modules', name), join(installed.folder, 'node_modules', name), 'dir');
  writeFileSync(join(installed.folder, 'program.ts'), PROGRAM);
  const options = '--noEmit --strict --skipLibCheck --target esnext --module nodenext --types node'.split(' ');
  execFileSync(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'program.ts'], {
    cwd: installed.folder,
    stdio: 'inherit',
  });
});

/** Creates a token, starts the server, runs a client program and sends SIGTERM, on a machine that has only npm. */
async function useInstalled(t: TestContext, node: string): Promise<void> {
  const { folder } = installed;
  const data = makeFolder();
  const env = { ...plainEnvironment(node), HOME: data, PORT: '0', DATABASE_URL: `sqlite:${data}/plants.db` };
  const first = execFileSync('node', ['--print', 'process.execPath'], { env, encoding: 'utf8' });
  assert.equal(realpathSync(first.trim()), realpathSync(node));
  const npx = ['exec', '--no', '--', 'plant-store'];
  const secret = execFileSync('npm', [...npx, 'token', 'create', '--name', 'me'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  assert.match(secret, /^pst_\w{36}\n$/);

  const server = spawn('npm', [...npx, 'serve'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  t.after(() => killGroup(server.pid));
  let printed = '';
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(server.stdout).on('line', (line) => {
      printed += `${line}\n`;
      const found = /"url":"([^"]+)"/.exec(line)?.[1];
      if (found) resolve(found);
    });
    server.once('close', () => reject(new Error(`The server ended: ${printed}`)));
  });
  writeFileSync(join(folder, 'program.ts'), PROGRAM);
  const program = execFileSync(node, ['program.ts', url, secret.trim()], { cwd: folder, env, encoding: 'utf8' });
  assert.equal(program, 'false true not_found 9007199254740993n\n');
  const page = await (await fetch(`${url}/`)).text();
  const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(page)?.[1];
  assert.equal((await fetch(`${url}/${script}`)).status, 200, 'the package contains the console');
  const answer = await fetch(`${url}/plants/9007199254740993`, {
    headers: { authorization: `Bearer ${secret.trim()}` },
  });
  assert.match(await answer.text(), /^\{"id":9007199254740993,"name":"Monstera deliciosa",/);

  const ended = once(server, 'close', { signal: AbortSignal.timeout(STOP_WITHIN_MS) }); // npm and all processes that share its output
  server.kill('SIGTERM');
  await ended;
  assert.match(printed, /"kind":"stopped"/);
}

function packageFolder(): string {
  return join(installed.folder, 'node_modules/plant-store');
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid) process.kill(-pid, 'SIGKILL');
  } catch {
    // the process has already ended
  }
}
