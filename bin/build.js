// Makes dist/ anew, which is what a package holds: src as JavaScript with its SQL beside it, the types of the client,
// and the console. Plain JavaScript on any Node, since npm runs it after an install. Types are checked by "npm run check".

import { spawnSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

rmSync(DIST, { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.client.json');
run('node_modules/vite/bin/vite.js', 'build', '--config', 'console/vite.config.ts');
cpSync(join(ROOT, 'src'), DIST, { recursive: true, filter: (path) => !path.endsWith('.ts') });

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(ROOT, script), ...args], { cwd: ROOT, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
