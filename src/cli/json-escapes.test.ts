// Tests that the JSON of every command has escapes for characters that can control a terminal, also in a pipe. Its reader,
// such as less, shows them on a terminal later.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { Command } from 'commander';
import { type Environment, runInProcess } from '../../testing/command-line.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { LAUNCHER, makeFolder } from '../../testing/server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { eventually } from '../../testing/until.ts';
import { SCOPES } from '../domain/names.ts';
import { createProgram } from './program.ts';

const HOSTILE = 'x\u009b31m\u202elive\u2066\u2028\u007f\u{e0001}y';
const UNSAFE = /[\x7f-\x9f\p{Cf}\u2028\u2029]/u;
const MIGRATE = 'migrate'; // its JSON has counts and a hash, and needs PostgreSQL
const PRINT_NO_JSON = [
  ...['serve', 'logout', 'settings', 'completion'],
  ...['token create', 'token update', 'token rotate', 'token revoke', 'webhook remove'],
];

const folder = join(makeFolder(), HOSTILE);
const file = (name: string) => join(folder, name);
const env: Environment = { WEBHOOK_ALLOW_PRIVATE: '1', BACKUP_DIR: file('backups'), HOME: makeFolder() };
const id = 'whk_1';
let service: TestService;
let receiver: string;

before(async () => {
  mkdirSync(file('backups'), { recursive: true });
  service = await startTestService({ folder, env: { WEBHOOK_ALLOW_PRIVATE: '1' } });
  const { secret } = await service.addToken({ name: HOSTILE, scopes: [...SCOPES] });
  env.DATABASE_URL = service.databaseUrl;
  env.PLANT_STORE_URL = service.url;
  env.PLANT_STORE_TOKEN = secret;
  receiver = (await startReceiver((_request, response) => response.writeHead(500).end(HOSTILE))).url;
  // written past the checks of the API, as another version could
  const webhook = { id, url: receiver, events: ['plant.created' as const], name: HOSTILE };
  await service.store.addWebhook({ ...webhook, secret: 'whsec_AAAA', createdMs: 1 });
  writeFileSync(file('plants.ndjson'), JSON.stringify({ id: 1, name: HOSTILE, tag: HOSTILE }));
});

test('the JSON of every command in a pipe has escapes', async () => {
  const tried = new Set([MIGRATE, ...PRINT_NO_JSON]);
  await print(false, ['webhook', 'add'], receiver);
  await print(false, ['import'], file('plants.ndjson'));
  await print(true, ['add'], '2', HOSTILE, '--tag', HOSTILE);
  await print(true, ['edit'], '2', '--name', HOSTILE);
  await print(true, ['get'], '1');
  await print(true, ['list']);
  await print(true, ['tags']);
  await print(true, ['history'], '1');
  await print(true, ['changes', 'list']);
  await print(true, ['export'], '-');
  await print(true, ['export'], file('exported.ndjson'));
  await print(true, ['backup'], file('backup.db'));
  await print(true, ['backup'], file(`backups/plants-2026-11-18T12-00-00Z.db`));
  await print(false, ['backups']);
  const { DATABASE_URL = '' } = env;
  env.DATABASE_URL = `sqlite:${file('restored.db')}`;
  await print(true, ['restore'], file('backup.db'));
  env.DATABASE_URL = DATABASE_URL;
  await print(false, ['status']);
  await print(true, ['config']);
  await print(true, ['doctor']);
  await print(true, ['whoami']);
  await print(true, ['token', 'list']);
  await print(true, ['webhook', 'list']);
  await print(true, ['webhook', 'update'], id, '--events', 'plant.created');
  await print(true, ['webhook', 'test'], id);
  await eventually(() => print(true, ['webhook', 'deliveries'], id)); // the first attempt fails
  await print(true, ['webhook', 'delivery'], id, '1');
  await print(true, ['webhook', 'retry'], id, '1');
  await print(true, ['webhook', 'replay'], id, '--from', '1');
  await print(true, ['webhook', 'disable'], id);
  await print(true, ['webhook', 'enable'], id);
  await print(true, ['webhook', 'rotate'], id);
  await print(false, ['rm'], '2');
  await print(false, ['changes', 'prune'], '--older-than', '1d');
  await print(true, ['login'], service.url);
  await print(false, ['profile', 'list']);
  await print(false, ['profile', 'use'], 'default');
  check('watch', await firstLineOf('watch', '--after', '0'), true);
  assert.deepEqual([...tried].sort(), leavesOf(await createProgram(process, () => true)).sort());

  /** Runs a command and checks its JSON, which has the hostile text if `isHostile`. Returns the values. */
  async function print(isHostile: boolean, command: string[], ...args: string[]) {
    const input = [env.PLANT_STORE_TOKEN ?? ''];
    const { stdout, stderr } = await runInProcess([...command, ...args], { env, input });
    assert.notEqual(stdout, '', stderr);
    return check(command.join(' '), stdout, isHostile);
  }

  function check(command: string, stdout: string, isHostile: boolean) {
    tried.add(command);
    assert.doesNotMatch(stdout, UNSAFE, command);
    const values = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(values.some(hasHostileText), isHostile, `${command}: ${stdout}`);
    return values;
  }
});

test('a file that export writes has the bytes of the API, and CSV is unchanged in a pipe', async () => {
  const { stdout } = await runInProcess(['export', '-', '--format', 'csv'], { env });
  assert.equal(stdout, `id,name,tag\n1,${HOSTILE},${HOSTILE}\n`);
  const headers = { authorization: `Bearer ${env.PLANT_STORE_TOKEN}` };
  const exported = await fetch(`${service.url}/plants/export`, { headers });
  await runInProcess(['export', file('again.ndjson')], { env });
  assert.equal(readFileSync(file('again.ndjson'), 'utf8'), await exported.text());
});

/** Returns the first line of a command that does not end by itself. */
async function firstLineOf(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [LAUNCHER, ...args], { env: { PATH: process.env.PATH, ...env } });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  child.kill('SIGKILL');
  return String(line).split('\n')[0] ?? '';
}

function hasHostileText(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value === 'string' && value.includes(HOSTILE);
  return Object.values(value).some(hasHostileText);
}

/** Returns the names of all commands that have no subcommands. */
function leavesOf(command: Command, prefix = ''): string[] {
  return command.commands.flatMap((each) => {
    const name = prefix + each.name();
    return each.commands.length === 0 ? [name] : leavesOf(each as Command, `${name} `);
  });
}
