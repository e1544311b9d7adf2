// Builds dist/, the content of the package: src as JavaScript with its SQL files, the types of the client, and the
// console. It is plain JavaScript for any Node, because npm runs it after an install. "npm run check" checks types.
// It builds in a copy and replaces dist/ at the end, so that a running server keeps its files.

import './own-node.js';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = join(ROOT, 'dist');
const FOLDERS = ['src', 'console', 'examples'];
const SOURCES = [...FOLDERS, 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.client.json'];

if (!existsSync(join(ROOT, 'node_modules/typescript'))) {
  process.stderr.write('plant-store: The tools for development are not installed. Run "npm ci --include=dev" first.\n');
  process.exit(2);
}
const draft = mkdtempSync(join(ROOT, '.build-')); // on the same file system as dist/, so that it can be renamed
process.on('exit', () => rmSync(draft, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

for (const source of SOURCES) cpSync(join(ROOT, source), join(draft, source), { recursive: true });
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.client.json');
run('node_modules/vite/bin/vite.js', 'build', '--config', 'console/vite.config.ts');
cpSync(join(ROOT, 'src'), join(draft, 'dist'), { recursive: true, filter: (path) => !path.endsWith('.ts') });

if (existsSync(DIST)) renameSync(DIST, join(draft, 'old'));
renameSync(join(draft, 'dist'), DIST);

function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [join(ROOT, script), ...args], { cwd: draft, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
