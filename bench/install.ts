// Packages that only this comparison needs: installed from npm when they are needed, outside of the repository, and
// kept for the next time. Each in a folder of its own, so that one that cannot be installed hinders no other.

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CACHE =
  process.env.PLANT_STORE_BENCH_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'plant-store-bench');

/** `npm run` tells those below it which folder is theirs; it is not the one of this install. */
const withoutNpm = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

/**
 * Gives the folder with the `node_modules`. Exact versions, so that two runs measure the same. No install scripts run:
 * what they would compile would ask for a compiler.
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
    throw new Error(`npm could not install it: ${reason.replace(/^npm error /, '').split('\n')[0]}`);
  }
  renameSync(partial, folder);
  return folder;
}
