// A store whose files were damaged while nobody used it. Damage that hits nothing that is stored need not be noticed,
// but then every record is as it was.

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
const REFUSAL =
  /^plant-store: .*(damaged|is not a database|is empty|is not a Plant Store|newer version|Cannot use).*\n$/;

interface Template {
  /** After a clean stop. */
  closed: string;
  /** After a kill, with the newest records in the log. */
  killed: string;
  secret: string;
  /** Every record. */
  exported: string;
}

fault({
  name: 'damaged database',
  mark: 'refuses to start with a line that says why and changes nothing, or serves every record as it was',
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
        assert.ok(exported === template.exported, `${kind}: it serves other records than were stored`);
        tally.exact++;
        continue;
      }
      assert.equal(status, 1, `${kind}: it ended with ${status}: ${stderr}`);
      assert.match(stderr, REFUSAL, `${kind}: it does not say why: ${stderr}`);
      assert.deepEqual(contentOf(path), before, `${kind}: it was refused, and changed`);
      const extra = readdirSync(join(path, '..')).filter((name) => !/^plants\.db(-wal|-shm|\.lock)?$/.test(name));
      assert.deepEqual(extra, [], `${kind}: something was made anew`);
      tally.refused++;
    }
    return `${tally.refused} refused and untouched, ${tally.exact} served with every record as it was`;
  },
  controls: {
    'one that believes what SQLite takes of a log': {
      change: ['src/storage/sqlite/database.ts', 'if (frame !== undefined) throw', 'if (frame === -1) throw'],
      caught: /log: it serves other records than were stored/,
    },
    'one that does not check its pages': {
      change: ['src/storage/sqlite/database.ts', `if (verdict !== 'ok') throw`, 'if (!verdict) throw'],
      rounds: 160,
      caught: /it serves other records than were stored|it ended with|it does not say why/,
    },
    'one that does not compare its plants with their changes': {
      change: ['src/storage/sqlite/database.ts', 'if (odd) throw', 'if (odd === null) throw'],
      rounds: 170,
      caught: /it serves other records than were stored/,
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

/** To look into a file, SQLite makes a log beside it that is empty. */
function contentOf(path: string): Buffer[] {
  return SUFFIXES.map((suffix) => (existsSync(path + suffix) ? readFileSync(path + suffix) : Buffer.alloc(0)));
}

/** What it exports, where it serves; else how it ended. */
async function tryToServe(launcher: string, path: string, secret: string) {
  const env = { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${path}` };
  const child = spawn(process.execPath, [launcher, 'serve'], { env });
  const exited = once(child, 'exit').then(([status]) => status as number | null);
  const said = text(child.stderr);
  const line = await Promise.race([exited.then(() => ''), once(child.stdout, 'data').then(([data]) => String(data))]);
  const url = /"url":"([^"]+)"/.exec(line)?.[1];
  try {
    const exported = url && (await exportOf(url, secret).catch((error: Error) => `cut off: ${error.message}`));
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
