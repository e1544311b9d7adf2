// Defines how the user calls the command line, for messages that recommend a command. It runs in every folder, in scripts,
// and under cron, because it is the path of a program unless PATH has it.

import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { toShellWord } from '../lib/shell-word.ts';

const IS_WINDOWS = process.platform === 'win32';
const IS_CHECKOUT = import.meta.filename.endsWith('.ts');
/** Program of a checkout. It finds the right Node itself. */
const LAUNCHER = join(import.meta.dirname, '../../bin', IS_WINDOWS ? 'plant-store.js' : 'plant-store');

/** Command of this process, without its arguments. */
export const OWN_COMMAND = IS_CHECKOUT
  ? toCommand(LAUNCHER, process.env.PATH)
  : toCommand(process.argv[1] ?? '', process.env.PATH, process.execPath);

/** Returns the command that runs `file` in a shell with this PATH. It names `node` if the shell would use another Node. */
export function toCommand(file: string, path = '', node?: string): string {
  const folders = path.split(delimiter).filter((folder) => !isAddedByNpm(folder));
  const word = toShellWord(file);
  if (node !== undefined && !isFirstIn(folders, node)) return `${toShellWord(node)} ${word}`;
  if (folders.includes(dirname(file))) return 'plant-store';
  return file.endsWith('.js') ? `node ${word}` : word; // on Windows, a script of npm starts the .js file
}

/** True for folders that are in PATH only while npm, npx or a program of a checkout runs. */
function isAddedByNpm(folder: string): boolean {
  return /[\\/]node_modules([\\/]|$)/.test(folder);
}

function isFirstIn(folders: string[], node: string): boolean {
  const first = folders
    .map((folder) => join(folder, IS_WINDOWS ? 'node.exe' : 'node'))
    .find((path) => existsSync(path));
  return first !== undefined && realpathSync(first) === realpathSync(node);
}
