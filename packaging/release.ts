// npm run release: makes the files of a release, or with VERSION prepares one. arguments.ts has its help.

import { join } from 'node:path';
import { UsageError, UserError } from '../src/lib/user-error.ts';
import { HELP, readArguments } from './release/arguments.ts';
import { requireCleanCheckout } from './release/checkout.ts';
import { makeRelease } from './release/make-release.ts';
import { Progress } from './release/progress.ts';
import { setVersion } from './release/set-version.ts';

const ROOT = join(import.meta.dirname, '..');

process.umask(0o022); // the modes in the package must not depend on the user
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));

try {
  const args = readArguments(process.argv.slice(2));
  if (args.help) process.stdout.write(HELP);
  else if (args.version === undefined) await makeRelease(ROOT, args, new Progress(process.stdout));
  else await prepare(args.version, args.allowDirty);
} catch (error) {
  process.exitCode = error instanceof UsageError ? 2 : 1;
  console.error(error instanceof UserError ? error.message : error);
}

async function prepare(version: string, allowDirty: boolean): Promise<void> {
  await requireCleanCheckout(ROOT, allowDirty);
  const files = setVersion(ROOT, version, new Date().toISOString().slice(0, 10));
  console.log(`Prepared ${version} in ${files.join(', ')}

Next:
  git diff
  git commit -am "Release ${version}"
  npm run release`);
}
