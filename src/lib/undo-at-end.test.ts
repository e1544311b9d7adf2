import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const MODULE = JSON.stringify(join(import.meta.dirname, 'undo-at-end.ts'));

/** Runs a program that registers two undos, of which one fails, and then does `end`. */
function run(end: string): { stdout: string; signal: NodeJS.Signals | null; status: number | null } {
  const program = `
    import { undoAtEnd } from ${MODULE};
    const undoFirst = undoAtEnd(() => console.log('first'));
    undoAtEnd(() => { throw new Error('failed'); });
    undoAtEnd(() => console.log('last'));
    ${end}`;
  const { stdout, signal, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  return { stdout, signal, status };
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
  test(`${signal} undoes everything, and ends a process that does not handle it`, () => {
    const ended = run(`process.kill(process.pid, '${signal}'); setInterval(() => {}, 1000);`);
    assert.deepEqual(ended, { stdout: 'first\nlast\n', signal, status: null });
  });
}

test('the end of the process undoes everything once', () => {
  assert.deepEqual(run('undoFirst(); process.exit(3);'), { stdout: 'first\nlast\n', signal: null, status: 3 });
});

test('a process that handles a signal continues, and nothing is undone before its end', () => {
  const ended = run(`
    process.on('SIGTERM', () => { console.log('handled'); process.exit(4); });
    process.kill(process.pid, 'SIGTERM');
    setInterval(() => {}, 1000);`);
  assert.deepEqual(ended, { stdout: 'handled\nfirst\nlast\n', signal: null, status: 4 });
});
