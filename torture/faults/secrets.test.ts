// Sends secrets of every kind to the right and the wrong places. Then searches everything that is stored, logged,
// returned, copied or forwarded for them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCOPES } from '../../src/domain/names.ts';
import { hashSecret, mintSecret } from '../../src/domain/token-secret.ts';
import { startCollector } from '../../testing/collector.ts';
import { AUDIENCE, makeKey, sign, startIdentityProvider } from '../../testing/identity-provider.ts';
import { startReceiver } from '../../testing/receiver.ts';
import { type Answer, callerOf, send, sendRaw } from '../../testing/request.ts';
import { addToken, besideServer, makeFolder } from '../../testing/server.ts';
import { fault, type Trial } from '../fault.ts';
import { runBuild } from '../run-build.ts';
import { tryPassword } from '../security/database-password.ts';
import { misplacedBytes, misplacements } from '../security/misplaced.ts';

/** Length of the pieces to search for. No piece of a secret with this length may be found. */
const PIECE_CHARS = 16;

fault({
  name: 'secrets',
  mark: 'No secret is found in the database, WAL, logs, backups, exports, errors, lists, metrics, traces or webhook messages.',
  rounds: { short: 1, full: 4, of: 'sets of secrets, each secret sent to every place' },
  async trial(trial) {
    const seen = { secrets: 0, requests: 0, bytes: 0 };
    for (let round = 0; round < trial.rounds; round++) await tryTokens(trial, seen);
    await tryPassword(trial);
    const { secrets, requests, bytes } = seen;
    return `${secrets} secrets in ${requests.toLocaleString('en')} requests, ${Math.round(bytes / 1024).toLocaleString('en')} KiB searched, 0 hits`;
  },
  controls: {
    'logs the Authorization header': {
      change: [
        'src/http/observe-response.ts',
        'address: request.address,\n  });',
        'address: request.address, authorization: request.headers.authorization });',
      ],
      caught: /is in the log/,
    },
    'stores secrets without hashing them': {
      change: ['src/domain/token.ts', 'addToken(token, hashSecret(secret))', 'addToken(token, secret)'],
      caught: /is in (backup|plants)\.db/,
    },
    'logs paths without redacting them': {
      change: ['src/http/observe-response.ts', "return text.includes('%') || mayHoldSecret(text);", 'return false;'],
      caught: /is in the log/,
    },
  },
});

/** Sends tokens to every place and searches for them. The short form sends most secrets to some places only. */
async function tryTokens(
  { startServer, launcher, isFull, random }: Trial,
  seen: { secrets: number; requests: number; bytes: number },
) {
  const places: Record<string, string | Buffer> = {};
  const answers: Answer[] = [];
  const [provider, collector, receiver, key] = await Promise.all([
    startIdentityProvider(),
    startCollector(),
    startReceiver(),
    makeKey('one'),
  ]);
  provider.publish(key);
  const folder = makeFolder();
  const env = {
    LOG_LEVEL: 'debug',
    ACCESS_LOG: '1',
    TRUST_PROXY: 'loopback',
    WEBHOOK_ALLOW_PRIVATE: '1',
    CORS_ORIGINS: '*',
    JWT_ISSUER: provider.issuer,
    JWT_AUDIENCE: AUDIENCE,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  };
  const server = await startServer({ folder, env });
  const { secret: admin, token } = await addToken(server.databaseUrl, { scopes: [...SCOPES] });
  const call = callerOf(server, admin);

  // Responses that issue a secret once are not searched for it.
  const issue = async (path: string, body?: unknown) => JSON.parse((await call('POST', path, body)).body);
  const made = await issue('/tokens', { name: 'made', scopes: ['plants:read'] });
  const rotated = await issue(`/tokens/${made.id}/rotate`);
  const hook = await issue('/webhooks', { url: receiver.url });
  const newHook = await issue(`/webhooks/${hook.id}/rotate`);
  const expired = await addToken(server.databaseUrl, { expiresMs: Date.now() - 1 });
  const revoked = await addToken(server.databaseUrl, {});
  await besideServer(server.databaseUrl, (store) => store.revokeToken(revoked.token.id, Date.now()));
  const jwt = await sign(provider.issuer, key);
  const wrongJwt = await sign('https://other.example', key);
  const tokens = {
    'the valid token': admin,
    'the token created over HTTP': made.secret,
    'the rotated token': rotated.secret,
    'the expired token': expired.secret,
    'the revoked token': revoked.secret,
    'the unknown token': mintSecret(),
    'the JWT': jwt,
    'the wrong JWT': wrongJwt,
  };
  const forMessages = { "the webhook's secret": hook.secret, "the webhook's new secret": newHook.secret };

  for (const secret of [...Object.values(tokens), hook.secret]) {
    const all = misplacements(secret, admin);
    const chosen = isFull || secret === admin || secret === hook.secret ? all : all.filter(() => random() < 0.15);
    for (const sent of chosen) answers.push(await send(server.port, { ...sent, headers: spread(sent.headers) }));
    for (const bytes of misplacedBytes(secret))
      places.parser = `${places.parser ?? ''}${await sendRaw(server.port, bytes)}`;
  }
  assert.equal((await call('PUT', '/plants/7', { name: 'Monstera' })).status, 200);
  await receiver.count(1);
  for (const path of ['/tokens', `/tokens/${token.id}`, '/tokens/self', '/webhooks', `/webhooks/${hook.id}`])
    answers.push(await call('GET', path));
  for (const path of [`/webhooks/${hook.id}/deliveries`, '/metrics', '/events', '/plants/export', '/plants'])
    answers.push(await call('GET', path));
  const lists = [
    ['token', 'list'],
    ['webhook', 'list'],
    ['webhook', 'deliveries', hook.id],
  ];
  for (const args of [
    ['export', '-'],
    ['backup', join(folder, 'backup.db')],
    ...(isFull ? lists : [random.pick(lists)]),
  ]) {
    const { status, stdout, stderr } = await runBuild(launcher, args, { env: { DATABASE_URL: server.databaseUrl } });
    assert.equal(status, 0, stderr);
    places[args.join(' ')] = stdout + stderr;
  }
  const whileItRuns = filesIn(folder);
  assert.ok(
    Object.keys(whileItRuns).some((name) => name.endsWith('-wal')),
    'no WAL to search',
  );
  assert.equal(await server.stop(), 0);
  const files = { ...whileItRuns, ...prefixed('after the shutdown: ', filesIn(folder)) };

  Object.assign(places, {
    'the log': server.output(),
    'a response': answers.map(({ status, headers, body }) => `${status} ${JSON.stringify(headers)} ${body}`).join('\n'),
    'a trace': Buffer.concat(collector.bodies),
    'a webhook message': receiver.received.map(({ headers, body }) => JSON.stringify(headers) + body).join('\n'),
  });
  assert.match(String(places['the log']), /"kind":"request".*"kind":"refused"/s, 'no log to search');
  assert.ok(collector.bodies.length > 0, 'no traces to search');
  assert.ok(answers.length > 100);
  search(places, { ...tokens, ...forMessages });
  search(files, tokens);
  // The store keeps only the hash of a token, and must not return it.
  search(
    places,
    Object.fromEntries(Object.entries(tokens).map(([name, secret]) => [`the hash of ${name}`, hashSecret(secret)])),
  );
  assert.ok(
    whileItRuns['plants.db-wal']?.includes(hashSecret(admin)) || whileItRuns['plants.db']?.includes(hashSecret(admin)),
  );

  seen.secrets += Object.keys(tokens).length + 2;
  seen.requests += answers.length;
  seen.bytes += [...Object.values(places), ...Object.values(files)].reduce((sum, { length }) => sum + length, 0);
}

let address = 0;
/** Adds a different address to each request, so that failed attempts do not add up to a lockout. */
function spread(headers: Record<string, string | string[]> = {}): Record<string, string | string[]> {
  address++;
  return { 'x-forwarded-for': `10.0.${(address >> 6) & 255}.7`, ...headers };
}

/** Searches for a piece of each secret, and for the secret as a Basic password in base64. */
function search(places: Record<string, string | Buffer>, secrets: Record<string, string>): void {
  for (const [name, secret] of Object.entries(secrets)) {
    const last = secret.split('.').at(-1) ?? ''; // for a JWT, only the signature is secret
    const from = Math.min(8, last.length - PIECE_CHARS);
    const coded = Buffer.from(`admin:${secret}`).toString('base64').slice(20, 60);
    for (const [place, text] of Object.entries(places)) {
      for (const needle of [last.slice(from, from + PIECE_CHARS), coded]) {
        const at = text.indexOf(needle);
        const around = () => String(text.slice(Math.max(0, at - 150), at)).replace(/[^\x20-\x7e]/g, '.');
        assert.ok(at === -1, `${name} is in ${place}, after: ${at === -1 ? '' : around()}`);
      }
    }
  }
}

function filesIn(folder: string): Record<string, Buffer> {
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))]));
}

function prefixed<T>(prefix: string, all: Record<string, T>): Record<string, T> {
  return Object.fromEntries(Object.entries(all).map(([name, value]) => [prefix + name, value]));
}
