import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConnectionUrl, InvalidConnectionUrl, parseConnectionUrl, toDriverUrl } from './connection-url.ts';

const FOLDER = '/var/run/postgresql';

/** Servers of each URL, as psql reads them. */
const HOSTS: [url: string, hosts: [host: string | undefined, port: string | undefined][], described: string][] = [
  ['postgres://db/plants', [['db', undefined]], 'postgres://db/plants'],
  ['postgresql://u:secret@db:6432/plants?sslmode=require', [['db', '6432']], 'postgresql://db:6432/plants'],
  ['postgres:///plants', [[undefined, undefined]], 'postgres:///plants'],
  ['postgres://[::1]:5432/plants', [['::1', '5432']], 'postgres://[::1]:5432/plants'],
  [`postgres:///plants?host=${FOLDER}`, [[FOLDER, undefined]], `postgres:///plants?host=${FOLDER}`],
  ['postgres://u:secret@%2Fvar%2Frun%2Fpostgresql/plants', [[FOLDER, undefined]], `postgres:///plants?host=${FOLDER}`],
  ['postgres://%2Ftmp:5433/plants', [['/tmp', '5433']], 'postgres:///plants?host=/tmp&port=5433'],
  ['postgres://:5433/plants?host=/tmp', [['/tmp', '5433']], 'postgres:///plants?host=/tmp&port=5433'],
  [
    'postgres://u:secret@a:5432,b:5433/plants',
    [
      ['a', '5432'],
      ['b', '5433'],
    ],
    'postgres://a:5432,b:5433/plants',
  ],
  [
    'postgres://a,[::1]:5433/plants',
    [
      ['a', undefined],
      ['::1', '5433'],
    ],
    'postgres://a,[::1]:5433/plants',
  ],
  [
    'postgres:///plants?host=a,b&port=5433&password=secret',
    [
      ['a', '5433'],
      ['b', '5433'],
    ],
    'postgres://a:5433,b:5433/plants',
  ],
  [
    'postgres://c/?host=a,/tmp&port=1,2&dbname=plants',
    [
      ['a', '1'],
      ['/tmp', '2'],
    ],
    'postgres:///plants?host=a,/tmp&port=1,2',
  ],
];

for (const [url, hosts, described] of HOSTS) {
  test(`parseConnectionUrl() reads the hosts of ${url}`, () => {
    assert.deepEqual(
      parseConnectionUrl(url).hosts,
      hosts.map(([host, port]) => ({ host, port })),
    );
    assert.equal(describeConnectionUrl(url), described);
    assert.doesNotMatch(described, /secret/);
  });
}

test('parseConnectionUrl() reads the target, the timeout and whether there is a password', () => {
  const { target, connectTimeoutMs, hasPassword } = parseConnectionUrl('postgres://u@db/plants');
  assert.deepEqual([target, connectTimeoutMs, hasPassword], ['any', 5000, false]);
  for (const name of ['any', 'read-write', 'primary']) {
    assert.equal(parseConnectionUrl(`postgres://a,b/plants?target_session_attrs=${name}`).target, name);
  }
  assert.equal(parseConnectionUrl('postgres://a,b/plants?connect_timeout=2').connectTimeoutMs, 2000);
  assert.equal(parseConnectionUrl('postgres://a,b/plants?connect_timeout=0').connectTimeoutMs, 5000);
  assert.equal(parseConnectionUrl('postgres://u:p@a,b/plants').hasPassword, true);
});

test('toDriverUrl() names one server and keeps the login and the other parameters', () => {
  const url = parseConnectionUrl(
    'postgres://us%40er:pa%2Fs%2Cs:1@a,/plants?host=a,/tmp&port=1,2&sslmode=verify-full&sslrootcert=/ca&target_session_attrs=primary',
  );
  const [first, second] = url.hosts.map((host) => new URL(toDriverUrl(url, host)));
  assert.equal(first?.pathname, '/plants');
  assert.deepEqual(Object.fromEntries(first.searchParams), {
    user: 'us@er',
    password: 'pa/s,s:1',
    host: 'a',
    port: '1',
    sslmode: 'verify-full',
    sslrootcert: '/ca',
    uselibpqcompat: 'true',
  });
  assert.deepEqual(
    ['host', 'port', 'sslmode', 'sslrootcert'].map((name) => second?.searchParams.get(name)),
    ['/tmp', '2', 'disable', null],
    'a socket has no TLS',
  );
});

const INVALID: [url: string, reason: RegExp][] = [
  ['postgres:plants', /^must be postgres:\/\/USER/],
  ['postgres://db', /^must be /],
  ['postgres://db/', /^must be /],
  ['postgres://db/%zz', /^must be /],
  ['postgres://u:%zz@db/plants', /^must be /],
  ['postgres://u:se@cret@db/plants', /^must be /],
  ['postgres://u:12/secret@db/plants', /^must be /],
  ['postgres://u:12?secret@db/plants', /^must be /],
  ['postgres://u:12#secret@db/plants', /^must be /],
  ['postgres://[::1/plants', /^must be /],
  ['postgres://a b/plants', /^must be /],
  ['postgres:///plants?host=a/b', /^must be /],
  ['postgres://u:secret/plants', /^has an invalid port/],
  ['postgres://db:0/plants', /^has an invalid port/],
  ['postgres://db:65536/plants', /^has an invalid port/],
  ['postgres://a:1,b:2/plants?host=a,b,c', /^has 2 ports for 3 hosts\. Name one port, or one per host\.$/],
  ['postgres://a,b/plants?target_session_attrs=standby', /^has an unsupported target_session_attrs\. Use one of any, /],
  ['postgres://a/plants?connect_timeout=5s', /^has an invalid connect_timeout/],
  ['postgres://a/plants?sslmode=bogus', /^has an unknown sslmode/],
];

for (const [url, reason] of INVALID) {
  test(`parseConnectionUrl() rejects ${url} without its password`, () => {
    assert.throws(
      () => parseConnectionUrl(url),
      (error: Error) => {
        assert.ok(error instanceof InvalidConnectionUrl);
        assert.match(error.message, reason);
        assert.doesNotMatch(error.message, /secret|cret@|\n/);
        return true;
      },
    );
  });
}
