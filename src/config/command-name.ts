// Defines how the user calls the command line, for messages that recommend a command: as this process was started.

import { delimiter, dirname, isAbsolute, join, relative } from 'node:path';
import { toShellWord } from '../lib/shell-word.ts';

const CHECKOUT = import.meta.filename.endsWith('.ts') ? join(import.meta.dirname, '../..') : undefined;

/** Command of this process, without its arguments. */
export const OWN_COMMAND = CHECKOUT === undefined ? ofPackage() : ofCheckout(CHECKOUT);

function ofPackage(): string {
  return toCommand(process.argv[1] ?? '', process.env.PATH ?? '', process.cwd());
}

/** Returns the command in a checkout. npm finds its script only there, and so do commands in its terminal. */
function ofCheckout(root: string): string {
  const isThere = process.env.npm_lifecycle_event !== undefined || process.cwd() === root;
  if (isThere) return 'npm run --silent plant-store --';
  return `${toShellWord(process.execPath)} ${toShellWord(join(root, 'bin/plant-store.js'))}`;
}

/** Returns the shortest command that runs `file`, the program of an installed package, in a shell at `cwd`. */
export function toCommand(file: string, path: string, cwd: string): string {
  const isFound = path.split(delimiter).includes(dirname(file)) && !isAddedByNpm(file);
  if (isFound) return 'plant-store';
  const fromHere = relative(cwd, file);
  const shown = fromHere.startsWith('..') || isAbsolute(fromHere) ? file : fromHere;
  const word = toShellWord(shown);
  return file.endsWith('.js') ? `node ${word}` : word; // on Windows, a script of npm starts the .js file
}

/** True for a program in node_modules, whose folder is in PATH only while npm or npx runs. */
function isAddedByNpm(file: string): boolean {
  return /node_modules[\\/]\.bin$/.test(dirname(file));
}
