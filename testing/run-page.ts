// Runs the commands of a documentation page as a reader does: from top to bottom, in an empty folder, on a terminal. HTML
// comments before a block change this; CONTRIBUTING.md lists them. In place of `pst_YOUR_TOKEN`, it uses the token that the
// server on a terminal has printed.

import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { atEndOfFile, atEndOfProcess } from './clean-up.ts';
import { findCommand } from './find-command.ts';
import { freePort } from './free-port.ts';
import { LAUNCHER } from './launch.ts';
import { type Block, blocksOf } from './markdown.ts';
import { makeEmptyDatabase } from './postgres.ts';
import { makeFolder } from './server.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dirname, '..');
/** Ports that pages use. Each is replaced by a free one. */
const PORTS = ['3000', '3001', '8080', '8443', '9090'];
const DATABASE_URL = 'postgres://plants:secret@127.0.0.1:5432/plants';
/** Time for a block to end, or for a background block to print its text. `npm ci` is the longest. */
const BLOCK_MS = 300_000;

export interface PageOptions {
  /** Folder in which the commands run; an empty one by default. */
  folder?: string;
  /** Environment of the commands. */
  env?: NodeJS.ProcessEnv;
}

/** Runs all blocks of a page. Fails at the first command that fails, and at the first output that differs. */
export async function runPage(path: string, { folder = makeFolder(), env = withCommands(folder) }: PageOptions = {}) {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const replacements = await findReplacements(text);
  const own = { PORT: replacements.get('3000'), XDG_CONFIG_HOME: makeFolder() }; // not the profiles of the developer
  const reader = new Reader(folder, { ...env, ...own });
  try {
    if (/^<!-- run: server -->$/m.test(text)) await reader.runInBackground('plant-store serve', 'listening');
    let printed = '';
    for (const block of blocksOf(replaceAll(text, replacements))) {
      try {
        printed = (await runBlock(block, reader, printed)) ?? printed;
      } catch (error) {
        throw new Error(`${path} fails at:\n${block.text}\n${reader.lastErrors()}`, { cause: error });
      }
    }
  } finally {
    await reader.stop();
  }
}

/** Runs a block. Returns the output of an `sh` block. */
async function runBlock({ language, text, comments }: Block, reader: Reader, printed: string) {
  if (comments.includes('run: stop')) await reader.stopServer();
  const needed = find(comments, /^needs: (\S+)$/);
  if (needed !== undefined && findCommand(needed) === undefined) return undefined;
  const file = find(comments, /^file: (\S+)$/);
  if (file !== undefined) {
    writeFileSync(join(reader.folder, file), text);
    return undefined;
  }
  if (comments.includes('output')) assertPrinted(printed, text);
  if (language !== 'sh' || find(comments, /^run: (no), /)) return undefined;
  const background = find(comments, /^run: background(?: until "(.+)")?$/);
  if (background !== undefined) return reader.runInBackground(text, background || 'listening');
  const onTerminal = find(comments, /^run: background on a terminal until "(.+)"$/);
  if (onTerminal !== undefined) return reader.runInBackground(text, onTerminal, true);
  return reader.run(text.replaceAll('pst_YOUR_TOKEN', () => reader.findToken()));
}

/** Returns the first group of the first comment that matches; an empty text if the group is absent. */
function find(comments: string[], pattern: RegExp): string | undefined {
  for (const comment of comments) {
    const match = pattern.exec(comment);
    if (match) return match[1] ?? '';
  }
  return undefined;
}

/** Asserts that the lines of a block were printed, in their order. `…` stands for any text, or on its own for any lines. */
function assertPrinted(printed: string, expected: string): void {
  const lines = printed.split('\n');
  for (const line of expected.trimEnd().split('\n')) {
    if (line === '…') continue;
    const pattern = new RegExp(`^${line.split('…').map(RegExp.escape).join('.*')}$`);
    const at = lines.findIndex((candidate) => pattern.test(candidate));
    assert.notEqual(at, -1, `Expected this line:\n${line}\nin:\n${printed}`);
    lines.splice(0, at + 1);
  }
}

async function findReplacements(text: string): Promise<Map<string, string>> {
  const replacements = new Map<string, string>();
  for (const port of PORTS) {
    if (port === '3000' || text.includes(port)) replacements.set(port, String(await freePort()));
  }
  if (text.includes(DATABASE_URL)) replacements.set(DATABASE_URL, await makeEmptyDatabase());
  return replacements;
}

function replaceAll(text: string, replacements: Map<string, string>): string {
  let replaced = text.replaceAll(DATABASE_URL, () => replacements.get(DATABASE_URL) ?? '');
  for (const port of PORTS) {
    replaced = replaced.replaceAll(new RegExp(`(?<=[:= (])${port}\\b`, 'g'), replacements.get(port) ?? port);
  }
  return replaced;
}

/** Returns an environment in which `plant-store`, `node` and the client library are those of this project. */
function withCommands(folder: string): NodeJS.ProcessEnv {
  const bin = join(makeFolder(), 'bin');
  mkdirSync(bin);
  const launch = `exec "${process.execPath}" "${LAUNCHER}" "$@"`;
  writeFileSync(join(bin, 'plant-store'), `#!/bin/sh\n${launch}\n`);
  chmodSync(join(bin, 'plant-store'), 0o755);
  symlinkSync(process.execPath, join(bin, 'node'));
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { name: string };
  mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true });
  symlinkSync(ROOT, join(folder, 'node_modules', name));
  symlinkSync(join(ROOT, 'examples'), join(folder, 'examples'));
  return { PATH: `${bin}:${process.env.PATH}`, HOME: folder };
}

/** A reader with one terminal for commands and others for programs that keep running. */
class Reader {
  readonly folder: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #shell: Program;
  readonly #scripts = makeFolder();
  readonly #pipe: number;
  readonly #background: Program[] = [];
  #blocks = 0;

  constructor(folder: string, env: NodeJS.ProcessEnv) {
    this.folder = folder;
    this.#env = env;
    const pipe = join(this.#scripts, 'pipe');
    execFileSync('mkfifo', [pipe]);
    this.#pipe = openSync(pipe, 'r+'); // opened for both, so that neither side waits for the other
    const loop = join(this.#scripts, 'loop.sh');
    writeFileSync(loop, `stty cols 120\nwhile read -r file < '${pipe}'; do . "$file" < /dev/null; done\n`);
    this.#shell = startOnTerminal(`sh -e '${loop}'`, folder, env);
    atEndOfFile(() => this.stop());
    atEndOfProcess(() => closeSync(this.#pipe));
  }

  /** Runs commands on the terminal that all blocks share. Returns the text on the terminal. */
  async run(commands: string): Promise<string> {
    const mark = `-- end of block ${++this.#blocks} --`;
    const file = join(this.#scripts, `block-${this.#blocks}.sh`);
    writeFileSync(file, `${commands}\nprintf '%s' '${mark}'\n`);
    const before = this.#shell.stdout.length;
    writeSync(this.#pipe, `${file}\n`);
    await this.#shell.waitFor(mark, before);
    return toLines(this.#shell.stdout.slice(before, this.#shell.stdout.indexOf(mark, before)));
  }

  /** Runs commands in a terminal of their own until the page ends, and waits for a text that they print. */
  async runInBackground(commands: string, text: string, isOnTerminal = false): Promise<string> {
    if (isServer(commands)) await this.stopServer(commands);
    const exported = this.#blocks === 0 ? '' : await this.run('export -p');
    const script = `${exported}\n${commands}`;
    const program = isOnTerminal
      ? startOnTerminal(script, this.folder, this.#env, commands)
      : new Program('sh', ['-c', script], this.folder, this.#env, commands);
    this.#background.push(program);
    await program.waitFor(text);
    return program.stdout;
  }

  /** Stops the server that listens on the same port as these commands. */
  async stopServer(commands = ''): Promise<void> {
    const port = /\bPORT=(\d+)/.exec(commands)?.[1];
    const servers = this.#background.filter(
      (program) => isServer(program.commands) && /\bPORT=(\d+)/.exec(program.commands)?.[1] === port,
    );
    for (const server of servers) {
      this.#background.splice(this.#background.indexOf(server), 1);
      await server.stop();
    }
  }

  /** Returns the token that a server has printed on its terminal. */
  findToken(): string {
    const [token] = /\bpst_\w+/.exec(this.#background.map(({ stdout }) => stdout).join('\n')) ?? [];
    assert.ok(token, 'No server has printed a token');
    return token;
  }

  lastErrors(): string {
    return [this.#shell, ...this.#background].map(({ stderr }) => stderr.slice(-2000)).join('\n');
  }

  async stop(): Promise<void> {
    await Promise.all([this.#shell, ...this.#background].map((program) => program.stop()));
  }
}

/** Returns the text that remains on a terminal: without control sequences, and without lines that were overwritten. */
function toLines(output: string): string {
  const lines = stripVTControlCharacters(output).split(/\r*\n/);
  return lines.map((line) => line.slice(line.lastIndexOf('\r') + 1)).join('\n');
}

function isServer(commands: string): boolean {
  return /plant-store serve|npm start/.test(commands);
}

/** Starts commands on a terminal of their own. */
function startOnTerminal(script: string, folder: string, env: NodeJS.ProcessEnv, commands = ''): Program {
  const terminal = { ...env, SHELL: '/bin/sh', TERM: 'dumb', NO_COLOR: '1' };
  return new Program('script', ['-qec', script, '/dev/null'], folder, terminal, commands);
}

/** A process with its child processes and its output. */
class Program {
  readonly commands: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(command: string, args: string[], cwd: string, env: NodeJS.ProcessEnv, commands = '') {
    this.commands = commands;
    this.#child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = once(this.#child, 'close');
    this.#child.stdout?.setEncoding('utf8').on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.#child.stderr?.setEncoding('utf8').on('data', (chunk) => {
      this.stderr += chunk;
    });
  }

  /** Waits for a text on either stream. Fails if the process ends before. */
  async waitFor(text: string, from = 0): Promise<void> {
    const isThere = () => this.stdout.includes(text, from) || this.stderr.includes(text);
    await until(() => isThere() || this.#hasEnded(), BLOCK_MS);
    assert.ok(isThere(), `The command failed. It printed:\n${this.stdout.slice(from)}\n${this.stderr}`);
  }

  async stop(): Promise<void> {
    if (this.#hasEnded()) return;
    try {
      process.kill(-Number(this.#child.pid), 'SIGTERM');
    } catch {
      // It has just ended.
    }
    await this.#ended;
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }
}
