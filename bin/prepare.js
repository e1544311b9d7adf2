// npm runs this after an install in a checkout, as "postprepare": a "prepare" it would name to all who install the package
// from a file. It makes dist/, where the compiler is installed, and keeps compiled code by one start and stop on a
// throwaway database, so that the first real start is as quick as all later ones; no install fails for want of that.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'plant-store-'));
const server = spawn(process.execPath, [join(import.meta.dirname, 'plant-store.js'), 'serve'], {
  env: { PATH: process.env.PATH, PORT: '0', DATABASE_URL: `sqlite:${folder}/plants.db` },
  stdio: ['ignore', 'pipe', 'ignore'],
  timeout: 10_000,
});
server.stdout.once('data', () => server.kill());
server.on('close', () => rmSync(folder, { recursive: true, force: true }));

if (existsSync(join(import.meta.dirname, '../node_modules/typescript'))) await import('./build.js');
