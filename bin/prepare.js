// npm runs this after an install in a checkout, as "postprepare": npm would show a "prepare" script to everybody who
// installs the package from a file. It builds dist/ if the compiler is installed. It also starts and stops a server
// once, on a temporary database, to fill the compile cache for the first real start. A failure there fails no install.

import './own-node.js';
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
