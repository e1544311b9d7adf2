// A store whose files were damaged while no server used it. The server may miss damage that affects no stored data, but
// then it must return every record unchanged.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { callerOf, importFile } from '../../testing/request.ts';
import { makeFolder, type TestServer } from '../../testing/server.ts';
import { DAMAGES, damage, isOfLog } from '../damage.ts';
import { fault, type Trial } from '../fault.ts';

const [IMPORTED, CREATED] = [1500, 100];
const SUFFIXES = ['', '-wal'];
const REFUSAL = /^plant-store: .*(damaged|database|empty|Plant Store|version|schema).*\n$/;

interface Template {
  /** Path of a store after a clean shutdown. */
  closed: string;
  /** Path of a store after a kill, with the newest records in the WAL. */
  killed: string;
  secret: string;
  /** An export of all records. */
  exported: string;
}

fault({
  name: 'damaged database',
  mark: 'The server refuses to start, gives the reason in one line and changes nothing. Otherwise it returns every record unchanged.',
  rounds: { short: 5, full: 68, of: 'damaged stores' },
  async trial(trial) {
    const { rounds, random, launcher } = trial;
    const template = await makeTemplate(trial);
    const tally = { refused: 0, exact: 0 };
    for (let round = 0; round < rounds; round++) {
      const kind = DAMAGES[(DAMAGES.length - 1 + 5 * round) % DAMAGES.length] as string;
      const path = join(makeFolder(), 'plants.db');
      copyStore(isOfLog(kind) ? template.killed : template.closed, path);
      damage(path, kind, random);
      const before = contentOf(path);
      const { status, stderr, exported } = await tryToServe(launcher, path, template.secret);
      if (exported !== undefined) {
        assert.ok(exported === template.exported, `${kind}: the server returned wrong records`);
        tally.exact++;
        continue;
      }
      assert.equal(status, 1, `${kind}: the server exited with ${status}: ${stderr}`);
      assert.match(stderr, REFUSAL, `${kind}: the message gives no reason: ${stderr}`);
      assert.deepEqual(contentOf(path), before, `${kind}: the server refused the store but changed it`);
      const extra = readdirSync(join(path, '..')).filter((name) => !/^plants\.db(-wal|-shm|\.lock)?$/.test(name));
      assert.deepEqual(extra, [], `${kind}: the server created other files`);
      tally.refused++;
    }
    return `${tally.refused} refused and untouched, ${tally.exact} served with every record unchanged`;
  },
  controls: {
    'trusts the frames that SQLite accepts from the WAL': {
      change: ['src/storage/sqlite/damage-checks.ts', 'if (frame !== undefined) throw', 'if (frame === -1) throw'],
      caught: /WAL: the server returned wrong records/,
    },
    'does not check its pages': {
      change: ['src/storage/sqlite/damage-checks.ts', `return verdict === 'ok' ?`, 'return verdict ?'],
      rounds: 160,
      caught: /the server returned wrong records|the server exited with|the message gives no reason/,
    },
    'does not compare plants with their changes': {
      change: ['src/storage/sqlite/damage-checks.ts', 'if (odd) return', 'if (odd === null) return'],
      rounds: 170,
      caught: /the server returned wrong records/,
    },
  },
});

async function makeTemplate({ startServer }: Trial): Promise<Template> {
  const first = await startServer();
  const lines = Array.from(
    { length: IMPORTED },
    (_, n) => `{"id":${n * 7 - 5000},"name":"Plant ${n}","tag":"t${n % 5}"}\n`,
  );
  const imported = await importFile(first, 'application/x-ndjson', lines.join(''));
  assert.equal(imported.status, 200);
  await first.stop();
  const folder = join(first.databasePath, '..');
  const second = await startServer({ folder });
  await createSome(second);
  const exported = await exportOf(second.url, second.secret);
  await second.kill();
  const [closed, killed] = [makeFolder(), makeFolder()].map((made) => join(made, 'plants.db')) as [string, string];
  copyStore(second.databasePath, killed);
  assert.equal(existsSync(`${killed}-wal`), true);
  const third = await startServer({ folder });
  assert.equal(await third.stop(), 0);
  copyStore(third.databasePath, closed);
  return { closed, killed, secret: second.secret, exported };
}

async function createSome(server: TestServer): Promise<void> {
  const call = callerOf(server, server.secret);
  for (let n = 0; n < CREATED; n++) {
    assert.equal((await call('POST', '/plants', { id: 100_000 + n, name: `Late plant ${n}` })).status, 200);
  }
}

function copyStore(from: string, to: string): void {
  for (const suffix of SUFFIXES) if (existsSync(from + suffix)) copyFileSync(from + suffix, to + suffix);
}

/** Returns the bytes of the store's files. A missing WAL equals an empty one, which SQLite creates to read a file. */
function contentOf(path: string): Buffer[] {
  return SUFFIXES.map((suffix) => (existsSync(path + suffix) ? readFileSync(path + suffix) : Buffer.alloc(0)));
}

/** Returns the server's export if it starts, and its exit status and error message if not. */
async function tryToServe(launcher: string, path: string, secret: string) {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}` };
  const child = spawn(process.execPath, [launcher, 'serve'], { env });
  const exited = once(child, 'exit').then(([status]) => status as number | null);
  const said = text(child.stderr);
  const line = await Promise.race([exited.then(() => ''), once(child.stdout, 'data').then(([data]) => String(data))]);
  const url = /"url":"([^"]+)"/.exec(line)?.[1];
  try {
    const exported = url && (await exportOf(url, secret).catch((error: Error) => `disconnected: ${error.message}`));
    return { exported, status: url ? null : await exited, stderr: url ? '' : await said };
  } finally {
    child.kill('SIGKILL');
    await exited;
  }
}

async function exportOf(url: string, secret: string): Promise<string> {
  const answer = await fetch(`${url}/plants/export`, { headers: { authorization: `Bearer ${secret}` } });
  return `${answer.status} ${await answer.text()}`;
}
