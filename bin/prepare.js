// npm runs this after an install. One start and stop on a throwaway database keeps the compiled code, so that the
// first real start is as quick as all later ones; nothing depends on it. And the client is built for those who import
// it from plant-store/client, where the compiler is installed.

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

const root = join(import.meta.dirname, '..');
const compiler = join(root, 'node_modules/typescript/bin/tsc');
if (existsSync(compiler)) {
  spawn(process.execPath, [compiler, '-p', 'tsconfig.client.json'], { cwd: root, stdio: 'inherit' }).on(
    'exit',
    (status) => {
      process.exitCode = status ?? 1;
    },
  );
}
