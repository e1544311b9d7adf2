// Tests import on a real terminal, with a file large enough for the bar to move.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LAUNCHER, makeStoreFolder, needsTerminal } from '../../testing/server.ts';

test(
  'import shows a bar with the rate and the remaining time on a terminal, then a summary',
  needsTerminal,
  async () => {
    const folder = await makeStoreFolder();
    const plants = Array.from({ length: 150_000 }, (_, at) => `{"id":${at + 1},"name":"Plant ${at + 1}"}\n`);
    writeFileSync(join(folder, 'in.ndjson'), `${plants.join('')}nope\n`);
    const command = `"${process.execPath}" "${LAUNCHER}" import in.ndjson`;
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: folder,
      env: { PATH: process.env.PATH, TERM: 'xterm', COLUMNS: '120', DATABASE_URL: 'sqlite:plants.db' },
      encoding: 'utf8',
    });
    assert.match(stdout, /Importing [^\n]*\d+ % \| [\d,]+ plants \| [\d,]+\/s \| \d+ s left/);
    assert.match(stdout, /Line 150001: .*JSON/);
    assert.match(stdout, /150,000 plants imported, 0 already stored, 1 line failed\./);
  },
);
