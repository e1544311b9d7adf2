// Two exports write one file at the same time, beside files of the user with similar names. Each is stopped at a random
// moment, and some are interrupted or killed.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, makeStoreFolder } from '../../testing/server.ts';
import { endOf, startStopped } from '../../testing/stopped-export.ts';
import { fault } from '../fault.ts';
import { runCommand } from '../run-build.ts';

const PLANTS = 40_000;
const ALL = Array.from({ length: PLANTS }, (_, n) => `{"id":${n},"name":"Plant ${n}"}\n`).join('');
/** Ends of an export: undefined lets it complete. SIGKILL is the only one that may leave its draft. */
const ENDS = [undefined, undefined, 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const;

fault({
  name: 'two commands write one file',
  mark: "Each file is whole or absent. The user's own files are untouched. Only a kill leaves a draft.",
  rounds: { short: 3, full: 50, of: 'pairs of exports to one file' },
  async trial({ rounds, random, launcher }) {
    const env = { DATABASE_URL: `sqlite:${join(await makeStoreFolder(), 'plants.db')}` };
    const source = join(makeFolder(), 'source.ndjson');
    writeFileSync(source, ALL);
    await runCommand(launcher, ['import', source], env);
    const folder = makeFolder();
    const [file, own] = [join(folder, 'plants.ndjson'), join(folder, 'plants.ndjson.part')];
    const counts = { completed: 0, interrupted: 0, killed: 0 };
    for (let round = 0; round < rounds; round++) {
      writeFileSync(own, 'mine');
      rmSync(file, { force: true });
      const ends = round === 0 ? [undefined, undefined] : [random.pick(ENDS), random.pick(ENDS)];
      const children = [await startStopped(file, env, launcher), await startStopped(file, env, launcher)];
      assertWhole();
      for (const [at, child] of children.entries()) {
        const end = ends[at];
        if (end !== undefined) child.kill(end);
        const [status, signal] = await endOf(child);
        assert.deepEqual([status, signal], end === undefined ? [0, null] : [null, end], 'an export ended otherwise');
        if (end === undefined) assert.ok(existsSync(file), 'an export with exit status 0 left no file');
        counts[end === undefined ? 'completed' : end === 'SIGKILL' ? 'killed' : 'interrupted']++;
        assertWhole();
      }
      const drafts = readdirSync(folder).filter((name) => !['plants.ndjson', 'plants.ndjson.part'].includes(name));
      const killed = ends.filter((end) => end === 'SIGKILL').length;
      assert.equal(drafts.length, killed, `drafts after ${killed} kills: ${drafts}`);
      for (const name of drafts) rmSync(join(folder, name));
    }
    return `${counts.completed} completed, ${counts.interrupted} interrupted, ${counts.killed} killed: every file whole`;

    function assertWhole(): void {
      assert.equal(existsSync(own) && readFileSync(own, 'utf8'), 'mine', "the user's own file changed");
      if (!existsSync(file)) return;
      const text = readFileSync(file, 'utf8');
      assert.ok(text === ALL, `the file has ${text.length} of ${ALL.length} characters`);
    }
  },
  controls: {
    'gives both commands the same draft': {
      changes: [
        ['src/lib/draft-path.ts', "randomBytes(4).toString('hex')", "'draft'"],
        ['src/cli/export.ts', "openSync(draft, 'wx'", "openSync(draft, 'w'"],
      ],
      caught: /the file has \d+ of \d+ characters|an export ended otherwise|drafts after/,
      inShort: true,
    },
    "uses the name of the user's own file for its draft": {
      changes: [
        ['src/lib/draft-path.ts', "randomBytes(4).toString('hex')", "'part'"],
        ['src/lib/draft-path.ts', '}.part`;', '}`;'],
        ['src/cli/export.ts', "openSync(draft, 'wx'", "openSync(draft, 'w'"],
      ],
      caught: /the user's own file changed/,
    },
    'writes to the file itself': {
      changes: [
        ['src/cli/export.ts', 'isPlain ? newDraftPath(file) : file;', 'newDraftPath("").length > 0 ? file : "";'],
        ['src/cli/export.ts', "openSync(draft, 'wx'", "openSync(draft, 'w'"],
      ],
      caught: /the file has \d+ of \d+ characters/,
    },
    'leaves its draft after a signal': {
      change: ['src/lib/undo-at-end.ts', '  pending.add(undoOnce);\n', ''],
      caught: /drafts after 0 kills/,
    },
  },
});
