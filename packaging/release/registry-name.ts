// Checks on the npm registry whether this project can publish under its name.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { UserError } from '../../src/lib/user-error.ts';

const TIMEOUT_MS = 5000;

export interface PackageJson {
  name: string;
  version: string;
  repository?: { url: string };
}

interface Published {
  versions?: string[] | string;
  'repository.url'?: string;
}

/** Returns a sentence about the name on the registry. Throws a UserError if the project cannot publish under it. */
export async function checkName(own: PackageJson, env: NodeJS.ProcessEnv): Promise<string> {
  const found = await findPublished(own.name, env);
  if (found === 'unreachable') return `The registry is unreachable: the name ${own.name} was not checked`;
  if (found === undefined) return `The name ${own.name} is free on the registry`;
  const repository = plainUrl(found['repository.url']);
  if (own.repository === undefined || repository !== plainUrl(own.repository.url)) {
    const owner = repository === '' ? 'another project' : `the project at ${repository}`;
    throw new UserError(
      `The name ${own.name} belongs to ${owner} on the registry. Set a scoped name in package.json, such as @SCOPE/${own.name}.`,
    );
  }
  if ([found.versions].flat().includes(own.version))
    throw new UserError(`${own.name} ${own.version} is already on the registry. Run "npm run release -- VERSION".`);
  return `The name ${own.name} belongs to this project on the registry`;
}

/** Returns what the registry has under this name. */
async function findPublished(name: string, env: NodeJS.ProcessEnv): Promise<Published | 'unreachable' | undefined> {
  const args = ['view', name, 'versions', 'repository.url', '--json', '--fetch-retries=0', '--prefer-online'];
  try {
    const { stdout } = await promisify(execFile)('npm', [...args, `--fetch-timeout=${TIMEOUT_MS}`], { env });
    return JSON.parse(stdout) as Published;
  } catch (error) {
    const { stdout = '' } = error as { stdout?: string };
    return stdout.includes('"E404"') ? undefined : 'unreachable';
  }
}

/** Returns a repository URL without the forms that npm accepts for the same place. */
function plainUrl(url = ''): string {
  return url.replace(/^git\+/, '').replace(/\.git$/, '');
}
