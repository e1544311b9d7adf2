// Untrusted control sequences in requests, JWTs, names, files and responses. They must not reach the log on a terminal,
// the log as JSON lines, or the output of commands on a terminal (simulated with `script`).

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { printAttempt } from '../../src/domain/attempt-log.ts';
import { SCOPES } from '../../src/domain/names.ts';
import { freePort } from '../../testing/free-port.ts';
import { AUDIENCE, makeKey, sign, startIdentityProvider } from '../../testing/identity-provider.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { callerOf, send, sendRaw } from '../../testing/request.ts';
import { addToken, besideServer, makeFolder, needsTerminal } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';
import { fault, type Trial } from '../fault.ts';

/**
 * Sets the title, clears the screen, sets two colours, rings the bell, deletes, reverses the line, starts a new line.
 */
const HOSTILE = 'x\x1b]0;owned\x07\x1b[2J\x1b[31;44m\x9b31m\x7f\u202elive\u2066\u2028y';
/** Matches the escaped form, which the terminal displays and does not execute. */
const SHOWN = /x(\\x1b|\\u001b)\]0;owned/;
/** Our own sequences: colours and progress bars. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the test searches for them
const OWN = /\x1b\[(\d{1,2}m|\d*[GJK]|\?(25|7)[hl])|\r|\n|\t/g;
const FORBIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

fault({
  name: 'hostile text on the terminal',
  mark: 'No control sequence from untrusted input reaches a terminal or a log line.',
  rounds: { short: 1, full: 5, of: 'passes over the terminal log, the JSON log and the commands' },
  skip: needsTerminal.skip,
  async trial(trial) {
    let shown = 0;
    for (let round = 0; round < trial.rounds; round++) {
      const tries = [tryLog(trial), tryJsonLog(trial), tryHostileServer(trial), tryDatabase(trial)];
      await Promise.allSettled(tries); // the build is removed when its trial ends
      for (const one of await Promise.all(tries)) shown += one;
    }
    return `${shown.toLocaleString('en')} characters displayed, 0 untrusted control sequences`;
  },
  controls: {
    'does not escape the log on a terminal': {
      change: ['src/observability/log.ts', 'toSafeText(msg)', 'msg'],
      caught: /^the log on a terminal has/,
    },
    'escapes only the characters that JSON requires in log lines': {
      change: ['src/observability/log.ts', 'destination.write(toSafeJson(line))', 'destination.write(line)'],
      caught: /^the log as JSON lines has/,
    },
    'does not escape command errors': {
      changes: [
        ['src/cli/run.ts', 'toSafeText(message)', 'message'],
        ['src/cli/terminal/report.ts', `.split('\\n').map(toSafeText)`, `.split('\\n')`],
        ['src/cli/run.ts', `  const { toSafeText } = await import('../lib/safe-text.ts');\n`, ''],
      ],
      caught: /^commands on (a hostile server|the database) have/,
    },
    'does not escape an export to a terminal': {
      change: ['src/cli/export.ts', 'toSafeTexts(texts, format, io.stdout)', 'texts'],
      caught: /^commands on a hostile server have/,
    },
    'does not escape command reports': {
      change: ['src/cli/terminal/report.ts', `.split('\\n').map(toSafeText)`, `.split('\\n')`],
      caught: /^commands on the database have/,
    },
  },
});

/** Checks the printed text, and returns its length. */
function assertHarmless(printed: string, where: string): number {
  assert.match(printed, SHOWN, `${where} none of the hostile text: ${printed}`);
  const found = FORBIDDEN.exec(printed.replace(OWN, ''));
  const around = found && printed.replace(OWN, '').slice(Math.max(0, found.index - 60), found.index + 20);
  assert.ok(!found, `${where} an untrusted control sequence: ${JSON.stringify(around)}`);
  return printed.length;
}

async function tryLog({ launcher }: Trial): Promise<number> {
  const port = await freePort();
  const databaseUrl = `sqlite:${join(makeFolder(), `${HOSTILE}.db`)}`;
  const { env, attack, close } = await prepareAttack(databaseUrl);
  const terminal = openTerminal([[process.execPath, launcher, 'serve']], {
    ...env,
    DATABASE_URL: databaseUrl,
    PORT: String(port),
  });
  const ended = once(terminal.process, 'close');
  try {
    await until(() => terminal.printed().includes(`:${port}`));
    await attack(port);
    await until(() => terminal.printed().includes('last-request'));
  } finally {
    terminal.process.stdin?.write('\x03'); // Ctrl-C
    await ended;
    close();
  }
  return assertHarmless(terminal.printed().replace('^C', ''), 'the log on a terminal has');
}

async function tryJsonLog({ startServer }: Trial): Promise<number> {
  const databaseUrl = `sqlite:${join(makeFolder(), 'plants.db')}`;
  const { env, attack, close } = await prepareAttack(databaseUrl);
  const server = await startServer({ databaseUrl, env });
  await attack(server.port);
  await until(() => server.output().includes('last-request'));
  assert.equal(await server.stop(), 0);
  close();
  for (const line of server.output().trim().split('\n')) assert.doesNotThrow(() => JSON.parse(line), line);
  return assertHarmless(server.output(), 'the log as JSON lines has');
}

interface Attack {
  env: Record<string, string>;
  attack(port: number): Promise<void>;
  close(): void;
}

/** Prepares requests with all untrusted text that a log could contain at LOG_LEVEL=debug. */
async function prepareAttack(databaseUrl: string): Promise<Attack> {
  const provider = await startIdentityProvider();
  const key = await makeKey('one');
  provider.publish(key);
  const receiver = await startReceiver((_request, response) => {
    response.writeHead(410).end(HOSTILE); // disables the webhook at once, which is logged
  });
  const { secret } = await addToken(databaseUrl, { scopes: [...SCOPES] });
  const env = {
    LOG_LEVEL: 'debug',
    ACCESS_LOG: '1',
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: AUDIENCE,
    WEBHOOK_ALLOW_PRIVATE: '1',
  };
  return {
    env,
    async attack(port) {
      const call = callerOf({ port }, secret);
      const [, claims, signature] = (await sign(provider.issuer, key)).split('.');
      for (const header of [
        { alg: 'ES256', kid: 'one', crit: [HOSTILE], [HOSTILE]: 1 },
        { alg: HOSTILE, kid: HOSTILE, typ: HOSTILE },
      ]) {
        const jwt = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}.${signature}`;
        assert.equal((await callerOf({ port }, jwt)('GET', '/plants')).status, 401);
      }
      for (const payload of [
        { sub: HOSTILE },
        { iss: HOSTILE },
        { aud: HOSTILE },
        { scope: HOSTILE, sub: 'x\u202e' },
      ]) {
        const jwt = await sign(provider.issuer, key, payload);
        assert.equal((await callerOf({ port }, jwt)('GET', '/plants')).status, 401);
      }
      provider.answer((response) => response.end(HOSTILE));
      const unknown = await sign(provider.issuer, { ...key, kid: 'two' });
      assert.equal((await callerOf({ port }, unknown)('GET', '/plants')).status, 401);
      await sendRaw(
        port,
        Buffer.from(`GET /plants/\x9b31m\x85 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'),
      );
      await call('GET', `/plants/${encodeURIComponent(HOSTILE)}?q=${encodeURIComponent(HOSTILE)}`);
      await send(port, { path: '/plants', headers: { 'x-request-id': '\x9bx', 'x-forwarded-for': '\x9bx' } });
      await call('POST', '/webhooks', { url: `${receiver.url}/${HOSTILE}` });
      assert.equal((await call('PUT', '/plants/1', { name: HOSTILE, tag: HOSTILE })).status, 200);
      await receiver.count(1);
      await call('GET', '/last-request');
    },
    close: () => void provider.close(),
  };
}

/** Runs commands against a server that returns hostile text in every field. */
async function tryHostileServer(trial: Trial): Promise<number> {
  const server = createServer(answerBadly).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const folder = makeFolder();
  writeFileSync(join(folder, 'plants.ndjson'), '{"id":1,"name":"x"}\n');
  const commands = [
    ['get', '1'],
    ['get', '1', '--json'],
    ['get', '404'],
    ['list'],
    ['tags'],
    ['history', '1'],
    ['history', '1', '--json'],
    ['changes', 'list'],
    ['whoami'],
    ['whoami', '--json'],
    ['add', '1', 'x'],
    ['export', '-', '--url', url],
    ['export', '-', '--url', url, '--format', 'csv'],
    ['import', join(folder, 'plants.ndjson'), '--url', url],
    ['import', join(folder, 'plants.ndjson'), '--url', url, '--dry-run'],
    ['watch', '--after', '0'],
  ];
  const env = { PLANT_STORE_URL: url, PLANT_STORE_TOKEN: 'pst_x' };
  const terminal = openTerminal(chosen(commands, trial), env);
  await once(terminal.process, 'close');
  server.close();
  server.closeAllConnections();
  return assertHarmless(terminal.printed(), 'commands on a hostile server have');
}

const RECORD = { id: 1, name: HOSTILE, tag: HOSTILE, created: HOSTILE, updated: HOSTILE };
const CHANGE = { seq: 1, type: HOSTILE, time: HOSTILE, plant: RECORD, token: HOSTILE };

function answerBadly({ method, url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const refuse = (status: number, error: number) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error, message: HOSTILE }));
  response.setHeader('etag', '"1"');
  if (method === 'GET' && url === '/plants/1') return void response.end(JSON.stringify(RECORD));
  if (url.startsWith('/plants/1/changes'))
    return void response.end(JSON.stringify([{ ...CHANGE, tokenName: HOSTILE }]));
  if (url === '/tokens/self') {
    const self = { id: HOSTILE, name: HOSTILE, scopes: [HOSTILE], expires: HOSTILE, rate: HOSTILE };
    return void response.end(JSON.stringify(self));
  }
  if (url === '/plants/summary') {
    const tags = [{ tag: HOSTILE, plants: 1 }];
    return void response.end(JSON.stringify({ plants: 1, untagged: 0, tags, lastChange: 1, changes: [] }));
  }
  if (url.startsWith('/plants/export')) return void response.end(`${JSON.stringify(RECORD)}\n`);
  if (url.startsWith('/plants/import')) {
    const errors = [{ line: HOSTILE, error: 40002, message: HOSTILE }];
    return void response.end(JSON.stringify({ created: 0, replayed: 0, failed: 1, errors }));
  }
  if (method === 'GET' && url.startsWith('/plants?')) return void response.end(JSON.stringify([RECORD]));
  if (headers.accept === 'text/event-stream') {
    if (headers['last-event-id'] === '1' || url.includes('after=1')) return void refuse(410, 41000);
    return void response
      .writeHead(200, { 'content-type': 'text/event-stream' })
      .end(`id: 1\ndata: ${JSON.stringify(CHANGE)}\n\n`);
  }
  if (url.startsWith('/events')) return void response.end(JSON.stringify([CHANGE]));
  refuse(400, 40000);
}

/** Runs commands directly on the database, with hostile files, names, arguments, settings and receivers. */
async function tryDatabase(trial: Trial): Promise<number> {
  const folder = makeFolder();
  const databaseUrl = `sqlite:${join(folder, 'plants.db')}`;
  const receiver = await startReceiver((_request, response) => response.writeHead(500).end(HOSTILE));
  await besideServer(databaseUrl, async (store) => {
    const url = receiver.url;
    const webhook = { id: 'whk_1', url, events: ['plant.created' as const], name: HOSTILE };
    await store.addWebhook({ ...webhook, secret: 'whsec_AAAA', createdMs: 1 });
    const { seq } = await store.create({ id: 1n, name: HOSTILE, tag: HOSTILE }, { tokenId: 'test' });
    const sent = { timeMs: 1, format: 'event', signature: HOSTILE, userAgent: HOSTILE, durationMs: 1 } as const;
    const attemptLog = printAttempt({ ...sent, answer: HOSTILE, error: HOSTILE });
    const record = { seq, plantId: 1n, status: 'delivered', attempts: 1, dueMs: 1, timeMs: 1, code: 200 } as const;
    const records = [{ ...record, answer: HOSTILE, error: HOSTILE, attemptLog }];
    await store.recordDeliveries('x', [
      { id: 'whk_1', epoch: 0, position: 1, failing: null, disabledMs: null, records },
    ]);
  });
  const file = join(folder, `${HOSTILE}.csv`);
  writeFileSync(file, `id,name,tag,${HOSTILE}\n${HOSTILE},x,y,z\n2,"${HOSTILE}" x,,\n`);
  const hostileFolder = join(folder, HOSTILE);
  mkdirSync(hostileFolder);
  const commands = [
    ['import', file],
    ['import', hostileFolder],
    ['export', join(folder, HOSTILE, HOSTILE, 'x.csv')],
    ['export', join(folder, `${HOSTILE}.ndjson`)],
    ['backup', join(folder, `${HOSTILE}.backup`)],
    ['webhook', 'test', 'whk_1'],
    ['webhook', 'list'],
    ['webhook', 'deliveries', 'whk_1'],
    ['webhook', 'delivery', 'whk_1', '1'],
    ['webhook', 'update', 'whk_1', '--name', HOSTILE],
    ['webhook', 'add', HOSTILE],
    [HOSTILE],
    ['list', `--${HOSTILE}`],
    ['serve', HOSTILE],
    ['webhook', 'add', 'https://x.example', '--events', HOSTILE],
  ];
  const env = { DATABASE_URL: databaseUrl, WEBHOOK_ALLOW_PRIVATE: '1' };
  const terminal = openTerminal(chosen(commands, trial), env);
  await once(terminal.process, 'close');
  return assertHarmless(terminal.printed(), 'commands on the database have');
}

/**
 * Returns the commands to run. The short form runs the first one, which always prints the text, and two random others.
 */
function chosen(commands: string[][], { isFull, random, launcher }: Trial): string[][] {
  const some = isFull ? commands : [...commands.slice(0, 1), random.pick(commands), random.pick(commands)];
  return some.map((args) => [process.execPath, launcher, ...args]);
}

interface Terminal {
  process: ChildProcess;
  /** Returns the output so far. */
  printed(): string;
}

/** Opens a terminal that runs the commands one after another. */
function openTerminal(commands: string[][], env: Record<string, string>): Terminal {
  const words = commands.map((command) => command.map((word) => `'${word}'`).join(' ')).join('\n');
  const child = spawn('script', ['-qec', words, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', LANG: 'C.UTF-8', ...env },
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    printed += chunk;
  });
  return { process: child, printed: () => printed };
}
