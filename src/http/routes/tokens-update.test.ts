// Tests of PATCH /tokens/{id} on both databases: what changes, when it takes effect, and who may change it.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DATABASES } from '../../../testing/both-databases.ts';
import { checkedCallerOf } from '../../../testing/description.ts';
import { queryPostgres } from '../../../testing/postgres.ts';
import { type Call, callerOf } from '../../../testing/request.ts';
import { besideServer } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { quickEnough, until } from '../../../testing/until.ts';
import { SCOPES } from '../../domain/names.ts';
import type { Store } from '../../domain/store.ts';
import type { TokenChange } from '../../domain/token.ts';

const DAY_MS = 86_400_000;

// Both wait most of the time, so they run at once.
suite('changing tokens over HTTP', { concurrency: true }, () => {
  for (const [title, databaseOf, needs] of DATABASES) {
    suite(`on ${title}`, { ...needs, concurrency: 1 }, () => {
      let server: TestService;
      let admin: { id: string; secret: string };
      let call: Call;

      before(async () => {
        const databaseUrl = await databaseOf();
        server = await startTestService({ ...(databaseUrl && { databaseUrl }) });
        admin = await server.addToken({ name: 'boss', scopes: [...SCOPES] });
        call = await checkedCallerOf(server, admin.secret);
      });
      after(() => server.stop());

      test('changes the given fields, keeps the others, and removes rate and expiry with null', async () => {
        const { id, secret } = await server.addToken({ name: 'a', scopes: ['plants:read'] });
        const { created, ...first } = await update(id, { name: 'Shop № 7', rate: '5/s', expires: '90d' });
        const { expires, ...rest } = first;
        assert.deepEqual(rest, { id, name: 'Shop № 7', scopes: ['plants:read'], rate: '5/s', status: 'active' });
        assert.ok(Math.abs(Date.parse(String(expires)) - Date.now() - 90 * DAY_MS) < 5000);
        assert.deepEqual(await update(id, {}), { created, ...first });
        assert.deepEqual(await update(id, { scopes: ['admin', 'plants:write', 'admin'] }), {
          created,
          ...first,
          scopes: ['plants:write', 'admin'],
        });
        assert.equal((await update(id, { expires: '2099-01-01T01:00:00+01:00' })).expires, '2099-01-01T00:00:00.000Z');
        const bare = { id, name: 'Shop № 7', scopes: ['plants:write', 'admin'], created, status: 'active' };
        assert.deepEqual(await update(id, { expires: null, rate: null }), bare);
        const { lastUsed, ...read } = JSON.parse((await call('GET', `/tokens/${id}`)).body);
        assert.deepEqual(read, bare);
        assert.equal((await statusOf(secret, '/tokens')).status, 200);
      });

      const BAD: [body: unknown, says: RegExp][] = [
        [{ name: '' }, /"name" must have 1 to 100 characters/],
        [{ name: null }, /"name" must be a string/],
        [{ scopes: [] }, /"scopes" must name at least one scope/],
        [{ scopes: ['root'] }, /"scopes.0" must be one of plants:read, plants:write, admin/],
        [{ scopes: null }, /"scopes" must be an array/],
        [{ expires: '90' }, /"expires" must be a time such as .*, or a duration such as 90d/],
        [{ expires: '2020-01-01T00:00:00Z' }, /"expires" must be in the future/],
        [{ rate: '0/s' }, /"rate" must be a number, at most 1000000, per second, minute or hour/],
        [{ rate: 5 }, /"rate" must be a number/],
        [{ name: 'x', secret: 'y' }, /has unknown fields: secret/],
        [[], /The body must be an object/],
      ];
      for (const [body, says] of BAD) {
        test(`rejects ${JSON.stringify(body)} and changes nothing`, async () => {
          const { id } = await server.addToken({ scopes: ['plants:read'] });
          const before = await server.store.getToken(id);
          const answer = await call('PATCH', `/tokens/${id}`, body);
          assert.deepEqual([answer.status, JSON.parse(answer.body).error], [400, 40002], answer.body);
          assert.match(JSON.parse(answer.body).message, says);
          assert.deepEqual(await server.store.getToken(id), before);
        });
      }

      test('an unknown, revoked or expired token gets 404 and stays as it is', async () => {
        const revoked = await server.addToken({ scopes: ['plants:read'] });
        const expired = await server.addToken({ scopes: ['plants:read'], expiresMs: Date.now() + 50 });
        await server.store.revokeToken(revoked.id, Date.now());
        await sleep(60);
        for (const id of [revoked.id, expired.id, 'tok_nobody']) {
          const answer = await call('PATCH', `/tokens/${id}`, { name: 'new', expires: null });
          assert.deepEqual([answer.status, JSON.parse(answer.body).error], [404, 40401]);
          assert.match(JSON.parse(answer.body).message, /^No (active )?token has id "tok_\w+"$/);
        }
        assert.equal((await server.store.getToken(expired.id)).name, 'test');
        assert.equal((await call('PATCH', '/tokens/self', { name: 'x' })).status, 405);
      });

      test('a token cannot grant a scope that it lacks, or change a token that has it', async () => {
        const own = await server.addToken({ scopes: ['admin', 'plants:read'] });
        const weak = callerOf(server, own.secret);
        const { id } = await server.addToken({ scopes: ['plants:read'] });
        const granted = await weak('PATCH', `/tokens/${id}`, { scopes: ['plants:read', 'plants:write'] });
        assert.deepEqual([granted.status, JSON.parse(granted.body).error], [403, 40301]);
        assert.match(granted.headers['www-authenticate'] ?? '', /scope="plants:write"$/);
        const stronger = await server.addToken({ scopes: ['plants:write'] });
        assert.equal((await weak('PATCH', `/tokens/${stronger.id}`, { expires: '90d' })).status, 403);
        assert.equal((await server.store.getToken(stronger.id)).expiresMs, null);
        const refused = server.events.filter((event) => event.kind === 'refused' && event.why === own.id);
        assert.deepEqual(
          refused.map((event) => 'reason' in event && event.reason),
          ['scope', 'scope'],
        );
        assert.equal((await weak('PATCH', `/tokens/${id}`, { scopes: ['admin'] })).status, 200);
      });

      test('a removed scope takes effect within 1 s, and requests in progress that need it end', async () => {
        await quickEnough(1000, async () => {
          const { id, secret } = await server.addToken({});
          const stream = openStream(secret, '/events');
          const importing = openImport(secret);
          await stream.started;
          await sleep(300);
          const changedMs = performance.now();
          await update(id, { scopes: ['admin'] });
          assert.equal(await importing, 403);
          const endedMs = await stream.ended;
          await until(async () => (await statusOf(secret, '/plants')).status === 403);
          const { events } = server;
          const reasons = events.flatMap((event) =>
            event.kind === 'refused' ? [`${event.reason}, ${event.why}`] : [],
          );
          const refused = reasons.filter((reason) => reason === `scope, ${id}`).length;
          assert.ok(refused >= 3, `${refused} of the import, the stream and a list were reported`);
          return Math.max(endedMs, performance.now()) - changedMs;
        });
      });

      test('a stream continues while its token keeps the scope', async () => {
        const { id, secret } = await server.addToken({});
        const stream = openStream(secret, '/events');
        await stream.started;
        await update(id, { scopes: ['plants:read'], name: 'still' });
        assert.equal(await Promise.race([stream.ended, sleep(1500, 'open')]), 'open');
        stream.close();
      });

      test('a body that arrives slowly is rejected if the token lost the scope meanwhile', async () => {
        const { id, secret } = await server.addToken({ scopes: ['plants:write'] });
        const body = '{"id":900001,"name":"late"}';
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
        const sent = request({ port: server.port, method: 'POST', path: '/plants', headers });
        const answer = new Promise((resolve) =>
          sent.on('response', (response) => resolve(response.resume().statusCode)),
        );
        sent.write(body.slice(0, 5));
        await sleep(200);
        await update(id, { scopes: ['plants:read'] });
        await sleep(900);
        sent.end(body.slice(5));
        assert.equal(await answer, 403);
        assert.equal((await call('GET', '/plants/900001')).status, 404);
      });

      test('a new rate takes effect, also for a token that has used up its old one', async () => {
        const { id, secret } = await server.addToken({ rate: { count: 1, periodMs: 3_600_000 } });
        assert.equal((await statusOf(secret, '/plants')).status, 200);
        assert.equal((await statusOf(secret, '/plants')).status, 429);
        await update(id, { rate: '7/s' });
        await until(async () => (await statusOf(secret, '/plants')).policy === '"token";q=7;w=1');
        await until(async () => (await statusOf(secret, '/plants')).status === 200);
        await update(id, { rate: null });
        await until(async () => (await statusOf(secret, '/plants')).policy === undefined);
      });

      test('an expiry takes effect for a token in use', async () => {
        const { id, secret } = await server.addToken({});
        assert.equal((await statusOf(secret, '/plants')).status, 200);
        await update(id, { expires: '1s' });
        await until(async () => (await statusOf(secret, '/plants')).status === 401);
      });

      test('the last admin keeps its scope and its lifetime', async () => {
        await revokeOtherAdmins();
        for (const change of [
          { scopes: ['plants:read'] },
          { expires: '90d' },
          { name: 'x', scopes: ['plants:write'] },
        ]) {
          const answer = await call('PATCH', `/tokens/${admin.id}`, change);
          assert.deepEqual([answer.status, JSON.parse(answer.body).error], [409, 40900], JSON.stringify(change));
          assert.match(JSON.parse(answer.body).message, /must keep this scope and cannot expire earlier/);
        }
        const kept = await server.store.getToken(admin.id);
        assert.deepEqual([kept.name, kept.scopes, kept.expiresMs], ['boss', [...SCOPES], null]);
        const allowed = { name: 'boss', rate: '100000/s', scopes: [...SCOPES], expires: null };
        assert.equal((await update(admin.id, allowed)).rate, '100000/s');
        const { id: other } = await server.addToken({ scopes: ['admin'], expiresMs: Date.now() + DAY_MS });
        await update(admin.id, { expires: '10d' });
        await server.store.revokeToken(other, Date.now());
        await update(admin.id, { expires: '20d' });
        assert.equal((await call('PATCH', `/tokens/${admin.id}`, { expires: '15d' })).status, 409);
        await update(admin.id, { expires: null });
      });

      test('of two admins that two nodes demote, expire or revoke concurrently, exactly one stays', async () => {
        await revokeOtherAdmins();
        const ends: ((store: Store, id: string) => Promise<unknown>)[] = [
          (store, id) => store.updateToken(id, demotion, Date.now()),
          (store, id) => store.updateToken(id, { expiresMs: Date.now() + DAY_MS }, Date.now()),
          (store, id) => store.revokeToken(id, Date.now()),
        ];
        await besideServer(server.databaseUrl, (one) =>
          besideServer(server.databaseUrl, async (other) => {
            for (let round = 0; round < 12; round++) {
              const [a, b] = await Promise.all([
                server.addToken({ scopes: ['admin'] }),
                server.addToken({ scopes: ['admin'] }),
              ]);
              await server.store.revokeToken(admin.id, Date.now(), true);
              const end = ends[round % ends.length] ?? demote;
              const came = await whileTokensAreLocked(() => [
                demote(one, a.id).then(String, ({ code }) => code),
                end(other, b.id).then(String, ({ code }) => code),
              ]);
              const active = (await one.listTokens()).filter(isAdmin);
              assert.ok(active.length >= 1, `round ${round}: ${came}`);
              if (round % ends.length !== 1) {
                assert.deepEqual(
                  [came.filter((code) => code === 'last_admin').length, active.length],
                  [1, 1],
                  `round ${round}`,
                );
              }
              admin = await server.addToken({ name: 'boss', scopes: [...SCOPES] });
              await revokeOtherAdmins();
            }
          }),
        );
      });

      /** On PostgreSQL, makes all writes start and wait before the first one can finish. */
      async function whileTokensAreLocked(start: () => Promise<string>[]): Promise<string[]> {
        if (title === 'SQLite') return Promise.all(start());
        const locking = new pg.Client({ connectionString: server.databaseUrl });
        await locking.connect();
        await locking.query('BEGIN');
        await locking.query('SELECT FROM tokens FOR UPDATE');
        const writes = start();
        const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        await until(async () => (await queryPostgres(server.databaseUrl, waiting)).length === writes.length);
        await locking.query('COMMIT');
        await locking.end();
        return Promise.all(writes);
      }

      const demotion: TokenChange = { scopes: ['plants:read'] };

      function demote(store: Store, id: string): Promise<unknown> {
        return store.updateToken(id, demotion, Date.now());
      }

      function isAdmin({ scopes, revokedMs }: { scopes: string[]; revokedMs: number | null }): boolean {
        return scopes.includes('admin') && revokedMs === null;
      }

      async function revokeOtherAdmins(): Promise<void> {
        for (const token of await server.store.listTokens()) {
          if (isAdmin(token) && token.id !== admin.id) await server.store.revokeToken(token.id, Date.now(), true);
        }
      }

      async function update(id: string, change: object): Promise<Record<string, unknown>> {
        const { status, body } = await call('PATCH', `/tokens/${id}`, change);
        assert.equal(status, 200, body);
        const { lastUsed, ...token } = JSON.parse(body);
        return token;
      }

      async function statusOf(secret: string, path: string): Promise<{ status: number; policy: unknown }> {
        const { status, headers } = await callerOf(server, secret)('GET', path);
        return { status, policy: headers['ratelimit-policy'] };
      }

      function openStream(secret: string, path: string) {
        const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<number>()];
        const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' };
        const sent = request({ port: server.port, path, headers }, (response) => {
          response.on('close', () => ended.resolve(performance.now()));
          response.on('error', () => {});
          response.once('data', started.resolve);
        });
        sent.on('error', started.reject).end();
        return { started: started.promise, ended: ended.promise, close: () => sent.destroy() };
      }

      /** Starts an import that never ends by itself. Returns the status of its response. */
      function openImport(secret: string): Promise<number | undefined> {
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/x-ndjson' };
        const sent = request({ port: server.port, method: 'POST', path: '/plants/import', headers });
        sent.write('{"id":900000,"name":"before"}\n');
        return new Promise((resolve, reject) => {
          sent.on('error', reject);
          sent.on('response', (response) => {
            resolve(response.resume().statusCode);
            sent.destroy();
          });
        });
      }
    });
  }
});
