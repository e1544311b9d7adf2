// Tests that a terminal is left as it was, however a command ends: with its cursor, and with lines that wrap.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import type { Environment } from '../../testing/command-line.ts';
import { LAUNCHER, makeFolder, makeStoreFolder, needsTerminal } from '../../testing/server.ts';

const BAR_BEGINS = '\x1b[?25l\x1b[?7l';
const BAR_ENDS = '\x1b[?7h\x1b[?25h';
const INTERRUPTED = 'Interrupted. All counted plants are stored. Run the command again to continue.\r\n';

/** Makes the process fail or exit when it receives SIGUSR2. */
function onUsr2(does: string): Environment {
  return { NODE_OPTIONS: `--import=data:text/javascript,process.on('SIGUSR2',()=>{${encodeURIComponent(does)}})` };
}

suite('on a terminal', needsTerminal, () => {
  for (const [signal, status, words, env] of [
    ['SIGINT', 130, INTERRUPTED],
    ['SIGTERM', 143, INTERRUPTED],
    ['SIGHUP', 129, INTERRUPTED],
    ['SIGQUIT', 131, INTERRUPTED],
    ['SIGUSR2', 1, 'Error: a bug', onUsr2("throw Error('a bug')")],
    ['SIGUSR2', 7, '', onUsr2('process.exit(7)')],
  ] as [NodeJS.Signals, number, string, Environment?][]) {
    test(`an import that ends with status ${status} after ${signal} restores it before its last words`, async () => {
      const database = { DATABASE_URL: `sqlite:${join(await makeStoreFolder(), 'plants.db')}` };
      const command = `echo "pid $$."; exec "${process.execPath}" "${LAUNCHER}" import -`;
      const { shown, ended } = await runUntil(command, { ...database, ...env }, BAR_BEGINS, signal);
      assert.equal(ended, status, shown);
      const [, afterBar = ''] = shown.split(BAR_ENDS);
      assert.equal(shown.split(BAR_ENDS).length, 2, JSON.stringify(shown));
      assert.ok(afterBar.includes(words), JSON.stringify(shown));
      assert.ok(shown.lastIndexOf(BAR_BEGINS) < shown.indexOf(BAR_ENDS), JSON.stringify(shown));
    });
  }

  for (const signal of ['SIGTERM', 'SIGHUP'] as const) {
    test(`a question for a secret that ends with ${signal} leaves the echo on`, async () => {
      const login = `sh -c 'echo "pid $$."; exec "${process.execPath}" "${LAUNCHER}" login http://127.0.0.1:1'`;
      const command = `${login}; stty -a | tr ' ' '\\n' | grep -E '^-?(icanon|echo)$' | xargs echo`;
      const { shown } = await runUntil(command, { HOME: makeFolder() }, '(not shown): ', signal);
      assert.match(shown, /\nInterrupted\. Nothing was saved\.\r\n.*\nicanon echo\r\n$/s, JSON.stringify(shown));
    });
  }
});

/** Runs a command that prints its process id on a real terminal, and sends it the signal when the text is shown. */
async function runUntil(
  command: string,
  env: Environment,
  text: string,
  signal: NodeJS.Signals,
): Promise<{ shown: string; ended: number | null }> {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', ...env },
  });
  const closed = once(child, 'close');
  let shown = '';
  let isSent = false;
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    shown += chunk;
    const [, pid] = /pid (\d+)\./.exec(shown) ?? [];
    if (isSent || !pid || !shown.includes(text)) continue;
    isSent = true;
    process.kill(Number(pid), signal);
  }
  const [ended] = await closed;
  return { shown, ended };
}
