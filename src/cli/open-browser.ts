// Opens a page in the browser of the user, with the command of the platform.

import { spawn } from 'node:child_process';
import type { CommandIo } from './command-io.ts';
import { writeWords } from './terminal/report.ts';

const COMMANDS: Partial<Record<NodeJS.Platform, [command: string, ...args: string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens the URL. If that fails, it prints a line with the reason. */
export function openBrowser(url: string, { env, stderr }: CommandIo): void {
  const [command, ...args] = COMMANDS[process.platform] ?? ['xdg-open'];
  const hasDesktop = command !== 'xdg-open' || env.DISPLAY || env.WAYLAND_DISPLAY || env.BROWSER;
  if (!hasDesktop) {
    report('this machine has no desktop');
    return;
  }
  spawn(command, [...args, url], { stdio: 'ignore', detached: true })
    .on('error', () => report(`the command ${command} was not found`))
    .on('exit', (status) => {
      if (status !== 0) report(`the command ${command} failed`);
    })
    .unref();

  function report(reason: string): void {
    writeWords(stderr, `Cannot open a browser: ${reason}. Open ${url} yourself.`);
  }
}
