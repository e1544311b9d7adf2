// Checks of Dockerfile, compose.yaml and the systemd unit that need no container engine.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { load } from 'js-yaml'; // A dependency of @redocly/openapi-core.
import { makeFolder, needs } from '../testing/server.ts';
import { startTestService } from '../testing/service.ts';

const ROOT = join(import.meta.dirname, '..');
const DOCKERFILE = read('Dockerfile');
const { version } = JSON.parse(read('package.json')) as { version: string };

interface Service {
  environment: Record<string, string>;
  read_only?: boolean;
  restart?: string;
  security_opt?: string[];
  volumes: string[];
  healthcheck?: object;
  depends_on?: Record<string, { condition: string }>;
}

test('every path that the Dockerfile copies or builds exists and is not excluded by .dockerignore', () => {
  const copied = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths = '']) => paths.split(' '));
  copied.push(...(/^const FOLDERS = \['(.+)'\];$/m.exec(read('bin/build.js'))?.[1]?.split("', '") ?? []));
  const letIn = [...read('.dockerignore').matchAll(/^!(\S+)$/gm)].map(([, path = '']) => path);
  assert.ok(copied.length >= 12);
  for (const path of copied.filter((one) => one !== '.')) {
    assert.ok(existsSync(join(ROOT, path)), `${path} is missing`);
    assert.ok(
      letIn.some((one) => path === one || path.startsWith(`${one}/`)),
      `${path} is ignored`,
    );
  }
});

test("the image has the project's Node.js and version, and does not run as root", () => {
  const { optionalDependencies } = JSON.parse(read('packaging/node/package.json'));
  for (const nodeVersion of Object.values(optionalDependencies))
    assert.ok(DOCKERFILE.includes(`ARG NODE_VERSION=${nodeVersion}\n`));
  assert.ok(DOCKERFILE.includes(`org.opencontainers.image.version="${version}"`));
  assert.match(DOCKERFILE.split(/^FROM /m).at(-1) ?? '', /^USER node$/m);
});

test("the image's health check succeeds for a ready server and fails without one", async () => {
  const [, , program = ''] = JSON.parse(/^ {2}CMD (\[.+\])$/m.exec(DOCKERFILE)?.[1] ?? '[]') as string[];
  const server = await startTestService({ env: { BASE_PATH: '/store' } });
  const check = async (port: number) => {
    const child = spawn(process.execPath, ['-e', program], { env: { PORT: String(port), BASE_PATH: '/store' } });
    const [printed] = await Promise.all([child.stderr.toArray(), once(child, 'close')]);
    return { status: child.exitCode, stderr: printed.join('') };
  };
  assert.deepEqual(await check(server.port), { status: 0, stderr: '' });
  await server.stop();
  assert.deepEqual(await check(server.port), { status: 1, stderr: '' });
});

test('compose.yaml waits for the database, contains no password and makes only its volumes writable', () => {
  const { services, volumes } = load(read('compose.yaml')) as {
    services: Record<string, Service>;
    volumes: Record<string, null>;
  };
  assert.deepEqual(Object.keys(services), ['plant-store', 'postgres']);
  for (const service of Object.values(services)) {
    assert.equal(service.read_only, true);
    assert.equal(service.restart, 'unless-stopped');
    assert.deepEqual(service.security_opt, ['no-new-privileges:true']);
    for (const volume of service.volumes) assert.ok((volume.split(':')[0] ?? '') in volumes, volume);
    for (const [name, value] of Object.entries(service.environment))
      if (/PASSWORD/.test(name)) assert.match(value, /^\$\{POSTGRES_PASSWORD:\?.+\}$/);
  }
  assert.equal(services['plant-store']?.depends_on?.postgres?.condition, 'service_healthy');
  assert.ok(services.postgres?.healthcheck);
});

test('systemd accepts the unit without warnings and rates its exposure as low', needs('systemd-analyze'), () => {
  const unit = join(makeFolder(), 'plant-store.service');
  const installed = '/bin/sh'; // In place of the program: verify requires an existing file, and a path without blanks.
  writeFileSync(unit, read('packaging/plant-store.service').replace('/usr/local/bin/plant-store', installed));
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', unit], { encoding: 'utf8' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
  const security = execFileSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit], {
    encoding: 'utf8',
  });
  assert.match(security, /MemoryDenyWriteExecute=/);
});

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
