// Hints for words that other programs use for a command.

import { OWN_COMMAND } from '../config/command-name.ts';

/** The words that people try, by the command for them. */
const WORDS: Record<string, string[]> = {
  serve: ['start'],
  'add ID NAME': ['create', 'new'],
  'get ID': ['show'],
  list: ['ls'],
  'edit ID': ['update'],
  'rm ID': ['remove', 'delete'],
  'token create --name NAME': ['token add', 'token new'],
  'token revoke ID': ['token rm', 'token remove', 'token delete'],
  'webhook add URL': ['webhook create', 'webhook new'],
  'webhook remove ID': ['webhook rm', 'webhook delete'],
  'logout --profile NAME': ['profile rm', 'profile remove', 'profile delete'],
};

/** Returns what to use in place of a command that does not exist, if its word is known. */
export function findCommandHint([first = '', second = '']: string[]): string | undefined {
  if (first === 'upgrade') {
    return `"upgrade" is not a command. Install the new version and run "${OWN_COMMAND} serve", which upgrades the database. "${OWN_COMMAND} migrate" copies a store from SQLite to PostgreSQL.`;
  }
  for (const word of [`${first} ${second}`, first]) {
    const [command] = Object.entries(WORDS).find(([, words]) => words.includes(word)) ?? [];
    if (command) return `"${word}" is not a command. Use "${OWN_COMMAND} ${command}".`;
  }
  return undefined;
}
