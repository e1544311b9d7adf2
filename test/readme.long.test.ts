// The README's commands as a stranger runs them: a fresh copy of the project in an empty folder, with no more than
// npm on the machine.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { isWrkHere } from '../bench/wrk.ts';
import { freePort } from '../testing/free-port.ts';
import { leadsToRegistry } from '../testing/packed.ts';
import { makeDatabase, needsPostgres } from '../testing/postgres.ts';
import { makeFolder, needsCurl } from '../testing/server.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = blocksOf(README);

/** What a reader of the tour sees, among other things. */
const TOUR = [
  '{"created":2,"replayed":0,"failed":1,"errors":[{"line":4,"error":40002,"message":"\\"id\\" must be an integer"}]}',
  'etag: "2"',
  'rel="next"',
  '[{"id":2,"name":"Été indien","created":',
  '[{"id":1,"name":"Monstera deliciosa","tag":"tropical","created":',
  '{"id":2,"name":"Été indien","tag":"tree","created":',
  '{"id":3,"name":"Ficus lyrata","created":',
  'HTTP/1.1 204 No Content',
  'id,name,tag\n1,Monstera deliciosa,tropical\n2,Été indien,tree\n9223372036854775807,Monstera deliciosa,tropical\n',
  '[{"seq":1,"type":"plant.created",',
  'id: 4\nevent: plant.updated\ndata: {"seq":4,',
];

const SHORT_BENCH = { BENCH_ROUNDS: '1', BENCH_SECONDS: '1', BENCH_ONLY: 'plant-store' };

test('from an empty folder to a stored plant with the README alone', { timeout: 400_000, ...needsCurl }, async () => {
  const folder = copyOfProject();
  const port = await freePort();
  const env = { ...withoutNpm(process.env), PORT: String(port), npm_config_prefer_offline: 'true', ...SHORT_BENCH };
  const sh = (command: string) =>
    execFileSync('sh', ['-c', command.replaceAll(/:3000\b/g, `:${port}`)], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });

  const start = block('sh', 'npm start');
  assert.equal(start, 'npm ci && npm start\n');
  const started = spawn('sh', ['-c', start], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(started, 'exit');
  try {
    await printed(started.stdout, '"kind":"listening"');
    assert.equal(`${sh(block('sh', 'curl'))}\n`, block('json', 'Monstera'));
    assert.equal(`${sh(block('sh', 'curl'))}\n`, block('json', 'Monstera'), 'a second time it is a replay');

    const tour = sh(section('A tour', 'sh'));
    for (const part of TOUR) assert.ok(tour.includes(part), `"${part}" is not in:\n${tour}`);
    const token = sh('npm run --silent plant-store -- token create --name program').trim();
    writeFileSync(join(folder, 'program.ts'), block('ts', 'plant-store/client').replaceAll(/:3000\b/g, `:${port}`));
    const program = sh(`PLANT_STORE_TOKEN=${token} npm exec -- node program.ts`);
    assert.match(program, /^condition_failed\n9223372036854775806n Rosa canina\n1n\n2n\n/);
    assert.match(program, /plant.created 9223372036854775806n\n\d+ plant.updated 9223372036854775806n\n$/);
    rmSync(join(folder, 'program.ts')); // it is not formatted as ours

    const terminal = sh(section('From the terminal', 'sh'));
    assert.match(terminal, /^\{"id":7,"name":"Monstera adansonii","tag":"tropical",.*\n\{"id":1,.*\n\{"id":7,/);
    assert.match(terminal, /\n\{"id":7,.*"tag":"climber",.*\n\{"removed":\[7\],"missing":\[\]\}\n$/);

    assert.deepEqual(
      sh(`TOKEN=${token}\n${block('sh', 'export plants.ndjson')}`)
        .trim()
        .split('\n'),
      [
        '{"file":"plants.ndjson","plants":4}',
        '{"created":0,"replayed":4,"failed":0}',
        'id,name,tag',
        '1,Monstera deliciosa,tropical',
        '2,Été indien,tree',
        '{"created":0,"replayed":4,"failed":0}',
      ],
    );
    assert.match(sh(block('sh', 'backup plants-backup.db')), /"bytes":\d+/);
    assert.equal(sh(block('sh', 'changes prune')), '{"pruned":0}\n');

    const [create = '', list = '', revoke = '', help = ''] = block('sh', 'token revoke').trim().split('\n');
    assert.match(sh(create), /^pst_\w{36}\n$/);
    const tokens = JSON.parse(sh(list));
    const shop = tokens.find(({ name }: { name: string }) => name === 'shop');
    assert.deepEqual(shop.scopes, ['plants:write']);
    sh(revoke.replace('tok_XXXXXXXXXXXX', shop.id));
    assert.match(sh(list), /"status": "revoked"/);
    assert.match(sh(help), /^Usage: plant-store/);

    const [, format = '', bench = ''] = block('sh', 'npm run format').trim().split('\n');
    sh(format);
    if (isWrkHere) assert.match(sh(bench), /^Counted: ([\d,]+) plants answered with 2xx, \1 stored\.$/m);
    if (process.platform === 'linux') assert.match(sh(`${bench} -- start`), /^processor time +\d+ ms/m);
  } finally {
    if (started.pid) process.kill(-started.pid, 'SIGTERM');
    await ended;
  }
  while (existsSync(join(folder, 'data/plants.db-wal'))) await sleep(50); // npm may end before the server has
  const before = sh('npm run --silent plant-store -- export -');
  assert.match(sh(block('sh', 'restore plants-backup.db')), /"file":".\/data\/plants.db"/);
  assert.equal(sh('npm run --silent plant-store -- export -'), before);
  const [added = '', listed = ''] = sh(block('sh', 'webhook add')).split('}\n');
  assert.match(added, /"events":\["plant.created","plant.updated","plant.deleted"\].*"secret":"whsec_/);
  assert.match(listed, /"url":"https:\/\/example.com\/plants"/);
  if (needsPostgres.skip) return;
  const to = await makeDatabase();
  const migrated = sh(block('sh', 'migrate --from').replace('postgres://postgres@127.0.0.1:5432/plants', to));
  assert.match(migrated, /^\{"plants":4,"changes":\d+,"sha256":"\w{64}","lastChange":\d+\}\n$/);
  assert.equal(sh(`DATABASE_URL=${to} npm run --silent plant-store -- export -`), before);
});

function blocksOf(text: string): { language: string; text: string }[] {
  const found = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)];
  return found.map(([, language = '', inside = '']) => ({ language, text: inside }));
}

/** All blocks of a section, one after the other. */
function section(title: string, language: string): string {
  const [, text = ''] = README.split(`\n## ${title}\n`);
  return blocksOf(text.split('\n## ')[0] ?? '')
    .filter((one) => one.language === language)
    .map((one) => one.text)
    .join('');
}

function block(language: string, part: string): string {
  const found = BLOCKS.find((one) => one.language === language && one.text.includes(part));
  assert.ok(found, `the README has no ${language} block with "${part}"`);
  return found.text;
}

/** As a clone has it, without what install and use have added. */
function copyOfProject(): string {
  const folder = makeFolder();
  const added = ['.git', 'node_modules', 'data', 'dist'].map((name) => join(ROOT, name));
  cpSync(ROOT, folder, { recursive: true, filter: (source) => !added.includes(source) });
  return folder;
}

/** The machine's own Node comes first again, and nothing of the npm that runs this test is left. */
function withoutNpm(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => leadsToRegistry(name) || !/^(npm_|NODE_)/i.test(name));
  const path = env.PATH?.split(':')
    .filter((entry) => !entry.includes('node_modules'))
    .join(':');
  return { ...Object.fromEntries(kept), PATH: path };
}

async function printed(stream: Readable, text: string): Promise<void> {
  let all = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    all += chunk;
    if (all.includes(text)) {
      stream.resume();
      return;
    }
  }
  assert.fail(`it ended without "${text}": ${all}`);
}
