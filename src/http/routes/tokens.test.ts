// Tests of tokens over HTTP on both databases: create, list, rotate, revoke, and the required scopes.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { DATABASES } from '../../../testing/both-databases.ts';
import { checkedCallerOf } from '../../../testing/description.ts';
import { type Answer, type Call, send } from '../../../testing/request.ts';
import { besideServer } from '../../../testing/server.ts';
import { startTestService, type TestService } from '../../../testing/service.ts';
import { quickEnough, until } from '../../../testing/until.ts';
import { issueToken } from '../../domain/token.ts';
import { hashSecret } from '../../domain/token-secret.ts';

const SECRET = /^pst_[0-9A-Za-z]{36}$/;
const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/;
const ALL = ['plants:read', 'plants:write', 'admin'];

// Both wait most of the time, so they run at once.
suite('tokens over HTTP', { concurrency: true }, () => {
  for (const [title, databaseOf, needs] of DATABASES) {
    suite(`on ${title}`, { ...needs, concurrency: 1 }, () => {
      let server: TestService;
      let admin: { id: string; secret: string };
      let call: Call;

      before(async () => {
        const databaseUrl = await databaseOf();
        server = await startTestService({ ...(databaseUrl && { databaseUrl }) });
        const { id, secret } = await server.addToken({ name: 'boss', scopes: ['admin', 'plants:read'] });
        admin = { id, secret };
        call = await checkedCallerOf(server, secret);
      });
      after(() => server.stop());

      test('POST /tokens returns the secret once, and the token works immediately', async () => {
        const expires = new Date(Date.now() + 90 * 86_400_000).toISOString();
        const wanted = { name: 'Shop № 7', scopes: ['plants:read'], expires, rate: '100/s' };
        const { status, headers, body } = await call('POST', '/tokens', wanted);
        assert.equal(status, 201, body);
        const { id, secret, created, ...rest } = JSON.parse(body);
        assert.deepEqual(rest, { ...wanted, status: 'active' });
        assert.match(id, /^tok_[0-9A-Za-z]{12}$/);
        assert.match(secret, SECRET);
        assert.ok(Math.abs(Date.parse(created) - Date.now()) < 5000);
        assert.equal(headers.location, `/tokens/${id}`);
        assert.equal(headers['cache-control'], 'no-store');
        const list = await send(server.port, { path: '/plants', headers: { authorization: `Bearer ${secret}` } });
        assert.deepEqual([list.status, list.headers['ratelimit-policy']], [200, '"token";q=100;w=1']);
        assert.deepEqual(JSON.parse((await call('GET', `/tokens/${id}`)).body).name, wanted.name);
      });

      test('expires accepts a duration, as on the command line', async () => {
        const { status, body } = await call('POST', '/tokens', { name: 'x', scopes: ['plants:read'], expires: '90d' });
        const { created, expires } = JSON.parse(body);
        assert.deepEqual([status, Date.parse(expires) - Date.parse(created)], [201, 90 * 86_400_000]);
      });

      test('GET /tokens returns every token without secret or hash, with its last use to the minute', async () => {
        await until(async () => (await tokenWith(admin.id)).lastUsed !== undefined);
        const { body } = await call('GET', '/tokens');
        const tokens: Record<string, unknown>[] = JSON.parse(body);
        assert.match(String(tokens.find(({ id }) => id === admin.id)?.lastUsed), MINUTE);
        for (const token of tokens) {
          const known = ['id', 'name', 'scopes', 'created', 'expires', 'rate', 'lastUsed', 'rotating', 'status'];
          assert.deepEqual(
            Object.keys(token).filter((name) => !known.includes(name)),
            [],
          );
        }
        for (const secret of [admin.secret, server.secret]) {
          assert.ok(!body.includes(secret.slice(4, 20)) && !body.includes(hashSecret(secret).slice(0, 16)));
        }
      });

      test('GET /tokens returns pages of 100 tokens, or of up to 1000, until the Link is absent', async () => {
        const added = await Promise.all(Array.from({ length: 101 }, () => server.addToken({ name: 'page' })));
        const idsIn = (body: string): string[] => JSON.parse(body).map(({ id }: { id: string }) => id);
        const all: string[] = [];
        for (let path: string | undefined = '/tokens?limit=40'; path !== undefined; ) {
          const { body, headers } = await call('GET', path);
          assert.ok(idsIn(body).length <= 40);
          all.push(...idsIn(body));
          path = /^<([^>]+)>; rel="next"$/.exec(String(headers.link))?.[1];
        }
        const stored = (await server.store.listTokens()).map(({ id }) => id);
        assert.deepEqual(all, stored);
        assert.ok(added.every(({ id }) => all.includes(id)));
        const whole = await call('GET', '/tokens?limit=2000');
        assert.deepEqual([idsIn(whole.body), whole.headers.link], [stored, undefined]);
        assert.deepEqual(idsIn((await call('GET', '/tokens')).body), stored.slice(0, 100));
        for (const query of [
          'limit=0',
          'cursor=',
          'cursor=x',
          `cursor=${Buffer.from('1 a\0').toString('base64url')}`,
        ]) {
          assert.match((await call('GET', `/tokens?${query}`)).body, /40003/);
        }
      });

      test('GET /tokens/self returns the own token with any scopes, and counts against its rate', async () => {
        for (const scopes of [['plants:read'], ['plants:write'], ['admin']] as const) {
          const { id, secret } = await server.addToken({
            name: 'me',
            scopes: [...scopes],
            expiresMs: Date.UTC(2099, 0),
            rate: { count: 1, periodMs: 3_600_000 },
          });
          const own = await checkedCallerOf(server, secret);
          const answer = await own('GET', '/tokens/self');
          assert.deepEqual([answer.status, answer.headers['cache-control']], [200, 'no-store'], answer.body);
          const { created, lastUsed, ...rest } = JSON.parse(answer.body);
          const expires = '2099-01-01T00:00:00.000Z';
          assert.deepEqual(rest, { id: id, name: 'me', scopes, expires, rate: '1/h', status: 'active' });
          assert.equal((await own('GET', '/tokens/self')).status, 429);
        }
        assert.equal((await call('DELETE', '/tokens/self')).status, 405);
      });

      /** Omits the last use, which can change between two calls because each call records its minute. */
      async function tokensButForTheirUse(): Promise<object[]> {
        const tokens: Record<string, unknown>[] = JSON.parse((await call('GET', '/tokens?limit=1000')).body);
        return tokens.map(({ lastUsed, ...token }) => token);
      }

      const BAD: [body: unknown, says: RegExp][] = [
        [{}, /"name" is missing/],
        [{ name: '' }, /"name" must have 1 to 100 characters/],
        [{ name: 'a\u0000b' }, /"name" must have/],
        [{ name: 'a\u202eb' }, /"name" must have/],
        [{ name: 'x'.repeat(101) }, /"name" must have/],
        [{ name: 'x', scopes: [] }, /"scopes" must name at least one scope/],
        [{ name: 'x', scopes: ['root'] }, /"scopes.0" must be one of plants:read, plants:write, admin/],
        [{ name: 'x', scopes: 'admin' }, /"scopes" must be an array/],
        [{ name: 'x', expires: '90' }, /"expires" must be a time such as .*, or a duration such as 90d/],
        [{ name: 'x', expires: '2030-13-01T00:00:00Z' }, /"expires" must be a time/],
        [{ name: 'x', scopes: ['plants:read'], expires: '2020-01-01T00:00:00Z' }, /"expires" must be in the future/],
        [{ name: 'x', expires: null }, /"expires" must be a time/],
        [{ name: 'x', expires: '2030-02-30T00:00:00Z' }, /"expires" must be a time/],
        [{ name: 'x', expires: '9999-12-31T23:59:59-23:59' }, /"expires" must be a time/],
        [{ name: 'x', rate: 100 }, /"rate" must be a number, at most 1000000, per second, minute or hour/],
        [{ name: 'x', rate: '0/s' }, /"rate" must be a number/],
        [{ name: 'x', rate: '1000001/s' }, /"rate" must be a number/],
        [{ name: 'x', rate: '1/d' }, /"rate" must be a number/],
        [{ name: 'x', scope: ['admin'] }, /has unknown fields: scope/],
        [{ name: 'x', pst_abc: 1 }, /has unknown fields: …$/],
        [[], /The body must be an object/],
      ];
      for (const [body, says] of BAD) {
        test(`POST /tokens rejects ${JSON.stringify(body).slice(0, 60)}`, async () => {
          const before = await tokensButForTheirUse();
          const answer = await call('POST', '/tokens', body);
          assert.deepEqual([answer.status, JSON.parse(answer.body).error], [400, 40002], answer.body);
          assert.match(JSON.parse(answer.body).message, says);
          assert.deepEqual(await tokensButForTheirUse(), before);
        });
      }

      test('a token cannot grant a scope that it lacks, or rotate a token that has it', async () => {
        for (const scopes of [['plants:write'], ALL, undefined]) {
          const { status, headers, body } = await call('POST', '/tokens', { name: 'more', scopes });
          assert.deepEqual([status, JSON.parse(body).error], [403, 40301]);
          assert.match(headers['www-authenticate'] ?? '', /scope="plants:write"$/);
        }
        const stronger = await server.addToken({ scopes: ['plants:write'] });
        assert.equal((await call('POST', `/tokens/${stronger.id}/rotate`)).status, 403);
        assert.equal((await tokenWith(stronger.id)).rotating, undefined);
        assert.equal(
          (await call('POST', '/tokens', { name: 'no more', scopes: ['plants:read', 'admin'] })).status,
          201,
        );
      });

      test('a revoked token is rejected within 1 s while in use, and its streams end', async (t) => {
        await quickEnough(1000, async () => {
          const { id, secret } = await server.addToken({});
          const statuses: [askedMs: number, status: number][] = [];
          const using = setInterval(async () => {
            const askedMs = performance.now();
            const { status } = await list(secret);
            statuses.push([askedMs, status]);
          }, 20);
          t.after(() => clearInterval(using));
          const stream = await openStream(secret);
          await until(() => statuses.length > 5);
          assert.equal((await call('DELETE', `/tokens/${id}`)).status, 204);
          const revokedMs = performance.now();
          const after = () => statuses.filter(([askedMs]) => askedMs > revokedMs + 1000).map(([, status]) => status);
          await until(() => after().length > 5);
          clearInterval(using);
          assert.ok(statuses.some(([askedMs, status]) => askedMs < revokedMs && status === 200));
          assert.deepEqual([...new Set(after())], [401]);
          assert.equal((await tokenWith(id)).status, 'revoked');
          assert.equal((await call('DELETE', `/tokens/${id}`)).status, 204, 'once more');
          return stream.endedMs() - revokedMs;
        });
      });

      test('a slow body causes a second check of the token, so a revoked token stores nothing', async () => {
        const { id, secret } = await server.addToken({ scopes: ['plants:write'] });
        const body = '{"id":900001,"name":"late"}';
        const headers = {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          'content-length': body.length,
        };
        const sent = request({ port: server.port, method: 'POST', path: '/plants', headers });
        const answer = new Promise<number | undefined>((resolve, reject) => {
          sent.on('response', (response) => resolve(response.resume().statusCode));
          sent.on('error', reject);
        });
        sent.write(body.slice(0, 5));
        await sleep(200);
        await call('DELETE', `/tokens/${id}`);
        await sleep(900);
        sent.end(body.slice(5));
        assert.equal(await answer, 401);
        assert.equal((await call('GET', '/plants/900001')).status, 404);
      });

      if (title === 'PostgreSQL') {
        test('requests do not wait until the last use of a token is recorded', async () => {
          const tokens = await Promise.all(
            Array.from({ length: 12 }, () => server.addToken({ scopes: ['plants:read'] })),
          );
          const locking = new pg.Client({ connectionString: server.databaseUrl });
          await locking.connect();
          await locking.query('BEGIN');
          await locking.query('SELECT FROM tokens FOR UPDATE');
          const begunMs = performance.now();
          const answers = await Promise.all(tokens.map(({ secret }) => list(secret)));
          assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
          assert.ok(performance.now() - begunMs < 2000);
          await locking.end();
        });

        test('a use while another write locks the token is recorded at the next use', async () => {
          const { id, secret } = await server.addToken({ scopes: ['plants:read'] });
          const locking = new pg.Client({ connectionString: server.databaseUrl });
          await locking.connect();
          await locking.query('BEGIN');
          await locking.query('SELECT FROM tokens WHERE id = $1 FOR UPDATE', [id]);
          await list(secret);
          const tryUse = () => besideServer(server.databaseUrl, (store) => store.noteUse([id], 60_000));
          assert.deepEqual(await tryUse(), [id]);
          assert.equal((await tokenWith(id)).lastUsed, undefined);
          await locking.end();
          await until(async () => {
            await list(secret);
            return (await tokenWith(id)).lastUsed !== undefined;
          });
        });
      }

      test('the later of two concurrent rotations sets the expiry of all older secrets', async () => {
        await besideServer(server.databaseUrl, async (one) => {
          await besideServer(server.databaseUrl, async (other) => {
            for (let round = 0; round < 20; round++) {
              const nowMs = Date.now();
              const wanted = { name: 'x', scopes: ['plants:read' as const], expiresMs: null };
              const { token, secret } = await issueToken(one, wanted, nowMs);
              const [long, short] = [`long ${round} ${title}`, `short ${round} ${title}`];
              await Promise.all([
                one.rotateToken(token.id, long, nowMs, nowMs + 1e9),
                other.rotateToken(token.id, short, nowMs, nowMs),
              ]);
              assert.equal(
                (await one.findToken(hashSecret(secret)))?.expiresMs,
                nowMs,
                'the rotation without a grace period sets the expiry',
              );
              const newest = (await one.findToken(short))?.expiresMs === null ? short : long;
              assert.equal((await one.findToken(newest))?.expiresMs, null);
            }
          });
        });
      });

      test('an import in progress ends when its token is revoked', async () => {
        const { id, secret } = await server.addToken({});
        const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/x-ndjson' };
        const sent = request({ port: server.port, method: 'POST', path: '/plants/import', headers });
        const answer = new Promise<number | undefined>((resolve, reject) => {
          sent.on('response', (response) => resolve(response.resume().statusCode));
          sent.on('error', reject);
        });
        sent.write('{"id":900000,"name":"before"}\n');
        await sleep(300);
        await call('DELETE', `/tokens/${id}`);
        assert.equal(await Promise.race([answer, sleep(8000, 'the import continues')]), 401);
        sent.destroy();
      });

      test('rotate returns a new secret, and the old one is accepted until the grace period ends', async () => {
        const { id, secret } = await server.addToken({ scopes: ['plants:read'], name: 'renewed' });
        const { status, body, headers } = await call('POST', `/tokens/${id}/rotate?grace=1h`);
        assert.equal(status, 200, body);
        assert.equal(headers['cache-control'], 'no-store');
        const rotated = JSON.parse(body);
        assert.match(rotated.secret, SECRET);
        assert.notEqual(rotated.secret, secret);
        assert.ok(Date.parse(rotated.rotating) > Date.now());
        assert.deepEqual([(await list(secret)).status, (await list(rotated.secret)).status], [200, 200]);
        const again = JSON.parse((await call('POST', `/tokens/${id}/rotate?grace=1s`)).body);
        await until(async () => (await list(rotated.secret)).status === 401);
        assert.deepEqual([(await list(secret)).status, (await list(again.secret)).status], [401, 200]);
        assert.equal((await tokenWith(id)).rotating, undefined);
      });

      test('after two rotations the first secret is valid, and grace=0 or a revocation ends all old secrets', async () => {
        const { id, secret } = await server.addToken({ scopes: ['plants:read'] });
        const rotate = async (query = '') =>
          JSON.parse((await call('POST', `/tokens/${id}/rotate${query}`)).body).secret as string;
        const second = await rotate();
        const third = await rotate();
        const statusesOf = async (...secrets: string[]) =>
          Promise.all(secrets.map(async (secret) => (await list(secret)).status));
        assert.deepEqual(await statusesOf(secret, second, third), [200, 200, 200]);
        const fourth = await rotate('?grace=0');
        await sleep(600);
        assert.deepEqual(await statusesOf(secret, second, third, fourth), [401, 401, 401, 200]);
        const fifth = await rotate('?grace=1h');
        await call('DELETE', `/tokens/${id}`);
        await sleep(600);
        assert.deepEqual(await statusesOf(fourth, fifth), [401, 401]);
        const again = await call('POST', `/tokens/${id}/rotate`);
        assert.deepEqual([again.status, JSON.parse(again.body).error], [404, 40401]);
      });

      test('rotate rejects an expired token, an invalid grace and an invalid id', async () => {
        const { id } = await server.addToken({ scopes: ['plants:read'], expiresMs: Date.now() + 50 });
        await sleep(60);
        assert.equal((await call('POST', `/tokens/${id}/rotate`)).status, 404);
        for (const grace of ['-1', '1y', '', 'soon', '1.5h']) {
          const { status, body } = await call('POST', `/tokens/${admin.id}/rotate?grace=${grace}`);
          assert.deepEqual([status, JSON.parse(body).error], [400, 40003], grace);
        }
        for (const [method, path] of [
          ['GET', '/tokens/1'],
          ['DELETE', `/tokens/${admin.secret}`],
        ] as const) {
          const { status, body } = await call(method, path);
          assert.deepEqual([status, JSON.parse(body).error], [400, 40003]);
          assert.ok(!body.includes('pst_'));
        }
        assert.equal((await call('DELETE', '/tokens/tok_nobody')).status, 404);
      });

      test('the last admin cannot revoke itself, and the last two cannot revoke each other concurrently', async () => {
        await besideServer(server.databaseUrl, async (store) => {
          for (const { id, scopes } of await store.listTokens()) {
            if (scopes.includes('admin') && id !== admin.id) await store.revokeToken(id, Date.now(), true);
          }
        });
        const refused = await call('DELETE', `/tokens/${admin.id}`);
        assert.deepEqual([refused.status, JSON.parse(refused.body).error], [409, 40900]);
        assert.match(JSON.parse(refused.body).message, /Create another one first/);
        assert.equal((await tokenWith(admin.id)).status, 'active');

        for (let round = 0; round < 5; round++) {
          const { id } = await server.addToken({ scopes: ['admin'] });
          const revoke = (id: string) =>
            besideServer(server.databaseUrl, (store) =>
              store.revokeToken(id, Date.now()).then(String, ({ code }) => code),
            );
          const came = await Promise.all([revoke(id), revoke(admin.id)]);
          assert.deepEqual([...came].sort(), ['last_admin', 'undefined']);
          if (came[1] === 'undefined') break; // the token itself is revoked
        }
      });

      function list(secret: string): Promise<Answer> {
        return send(server.port, { path: '/plants?limit=1', headers: { authorization: `Bearer ${secret}` } });
      }

      async function tokenWith(id: string): Promise<Record<string, unknown>> {
        return JSON.parse((await call('GET', `/tokens/${id}`)).body);
      }

      function openStream(secret: string): Promise<{ endedMs(): number; close(): void }> {
        return new Promise((resolve, reject) => {
          let endedMs = Number.POSITIVE_INFINITY;
          const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' };
          const sent = request({ port: server.port, path: '/events', headers }, (response) => {
            response.on('close', () => {
              endedMs = performance.now();
            });
            response.on('error', () => {});
            response.once('data', () => resolve({ endedMs: () => endedMs, close: () => sent.destroy() }));
          });
          sent.on('error', reject).end();
        });
      }
    });
  }
});
