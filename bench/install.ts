// Installs packages from npm that only the benchmarks need, outside of the repository, and caches them. Each package
// has its own folder, so that a failed install does not affect the others.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CACHE =
  process.env.PLANT_STORE_BENCH_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plant-store-bench');

/**
 * `npm run` passes its project folder to child processes in these variables. It differs from the folder of this
 * install.
 */
const withoutNpm = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

/**
 * Returns the folder with `node_modules`. Versions are exact, so that two runs measure the same. Install scripts are
 * disabled, because they would require a compiler.
 */
export async function install(
  name: string,
  packages: Record<string, string>,
  overrides: Record<string, string> = {},
): Promise<string> {
  const folder = join(CACHE, [name, ...Object.values(packages)].join('-').replaceAll(/[^\w.-]/g, ''));
  if (existsSync(folder)) return folder;
  process.stderr.write(`Installing ${name} from npm …\n`);
  const partial = `${folder}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'package.json'), JSON.stringify({ private: true, dependencies: packages, overrides }));
  try {
    await promisify(execFile)('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: partial,
      env: { ...withoutNpm, PATH: `${dirname(process.execPath)}:${process.env.PATH}` },
      maxBuffer: 64 * 1024 * 1024,
      timeout: 15 * 60_000,
    });
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    const { stderr = '', message } = error as Error & { stderr?: string };
    const reason = stderr.split('\n').find((line) => /npm error (notarget|404|[A-Z])/.test(line)) ?? message;
    throw new Error(`npm install failed: ${reason.replace(/^npm error /, '').split('\n')[0]}`);
  }
  renameSync(partial, folder);
  return folder;
}

/** Returns the version of an installed package. `folder` has the `node_modules`. */
export function installedVersion(folder: string, name: string): string {
  return JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version;
}
