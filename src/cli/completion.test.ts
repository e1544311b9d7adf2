// Tests of the completion scripts, run in the shells themselves.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { piped, typeInto } from '../../testing/command-line.ts';
import { makeFolder, needs, needsTerminal } from '../../testing/server.ts';

const TOP =
  'add backup backups changes completion config doctor edit export get help history import list login logout migrate profile restore rm serve settings status tags token watch webhook whoami';

const ROWS: [typed: string, offered: string][] = [
  ['', TOP],
  ['li', 'list'],
  ['profile ', 'help list use'],
  ['token ', 'create help list revoke rotate update'],
  ['help w', 'watch webhook whoami'],
  ['token create --sc', '--scopes'],
  ['token create --scopes ', 'admin all plants:read plants:write'],
  ['token create --name x --scopes plants:read,ad', 'plants:read,admin'],
  ['webhook add https://x/ --events plant.u', 'plant.updated'],
  ['webhook deliveries x --status d', 'dead delivered'],
  ['webhook update x --format ', 'event plant'],
  ['export x --format ', 'csv ndjson'],
  ['list --sort u', 'updated'],
  ['changes ', 'help list prune'],
  ['changes list --type plant.d', 'plant.deleted'],
  ['completion ', 'bash fish zsh'],
  ['add 7 token --', '--help --json --profile --replace --table --tag --url'],
  ['token create --name ', ''],
  ['import plan', 'plants.csv'],
];

let folder: string;

before(async () => {
  folder = makeFolder();
  writeFileSync(join(folder, 'plants.csv'), '');
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(folder, shell), (await piped(['completion', shell])).stdout);
  }
});

/** Compares one line of output with each row. */
function check(printed: string, rows: [string, string][]): void {
  const lines = printed.split('\n').slice(0, -1);
  const sorted = lines.map((line) => line.trim().split(' ').sort().join(' '));
  assert.deepEqual(
    rows.map(([typed], at) => [typed, sorted[at]]),
    rows,
  );
}

test('bash completes commands, options and fixed values', needs('bash'), () => {
  const script = ROWS.map(([typed]) => `try ${quoted(`plant-store ${typed}`)}`).join('\n');
  const ask = `source ./bash
    COMP_WORDBREAKS=\${COMP_WORDBREAKS//:/}
    try() { COMP_LINE=$1 COMP_POINT=\${#1}; _plant_store; echo "\${COMPREPLY[*]}"; }
    ${script}`;
  const printed = execFileSync('bash', ['--norc', '-c', ask], { cwd: folder, encoding: 'utf8' });
  check(printed, [...ROWS.slice(0, -1), ['import plan', '']]); // bash completes files itself, see the next test
});

test('bash completes interactively, including after a colon and for files', {
  ...needs('bash'),
  ...needsTerminal,
}, async () => {
  const shown = await typeInto('bash --norc --noprofile -i', { HOME: folder, PS1: '> ' }, [
    ['> ', `cd ${folder} && source ./bash; plant-store() { echo "<$*>"; }; echo rea''dy\n`],
    ['ready', 'plant-store tok\tcr\t--sc\tplants:r\t\n'],
    ['<token create --scopes plants:read>', 'plant-store token create --scopes=plants:read,plants:w\t\n'],
    ['plants:write>', 'plant-store import plan\t\n'],
    ['<import plants.csv>', 'exit\n'],
  ]);
  assert.match(shown, /<import plants\.csv>/);
});

test('fish completes commands, options, fixed values and files', needs('fish'), () => {
  const lines = ROWS.map(([typed]) => quoted(`plant-store ${typed}`)).join(' ');
  const ask = `source ./fish; for line in ${lines}; set found (complete -C $line | string replace -r '\\t.*' ''); echo "$found"; end`;
  const env = { PATH: process.env.PATH, HOME: folder };
  check(execFileSync('fish', ['-c', ask], { cwd: folder, encoding: 'utf8', env }), ROWS);
});

test('zsh completes interactively', { ...needs('zsh'), ...needsTerminal }, async () => {
  const shown = await typeInto('zsh -f -i', { HOME: folder, PS1: '> ' }, [
    [
      '> ',
      `cd ${folder}; autoload -U compinit; compinit -u -D; source ./zsh; plant-store() { echo "<$*>" }; echo rea''dy\n`,
    ],
    ['ready', ''],
    ['> ', 'plant-store tok\tcr\t--sc\tplants:r\t,ad\t\n'],
    ['<token create --scopes plants:read,admin>', ''],
    ['> ', 'plant-store import plan\t\n'],
    ['<import plants.csv>', ''],
    ['> ', 'plant-store webhook deliveries x --status \t\t'],
    ['waiting', '\x15exit\n'],
  ]);
  assert.match(shown, /dead +delivered +waiting/);
});

function quoted(text: string): string {
  return `'${text}'`;
}
