import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of a command if this machine has it. Starting the command would take far longer. */
export function findCommand(command: string): string | undefined {
  const folders = process.env.PATH?.split(delimiter) ?? [];
  return folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
}
