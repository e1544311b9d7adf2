import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Address, createTargetGuard } from './target-guard.ts';

const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.215.14', '2606:4700::6810:84e5'],
  'private.example': ['10.0.0.7'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'azure.example': ['168.63.129.16'],
  'mapped.example': ['::ffff:10.0.0.1'],
};

async function resolve(name: string): Promise<Address[]> {
  const addresses = NAMES[name];
  if (!addresses) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
}

const closed = createTargetGuard({ allowPrivate: false, resolve });
const open = createTargetGuard({ allowPrivate: true, resolve });

/** Hosts by kind, as they appear in a URL. */
const FORBIDDEN_HOSTS = {
  loopback: ['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '017700000001', '127.0.0.1.', '[::1]'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '0xc0.0xa8.0x01.0x01', 'private.example'],
  'link-local': ['169.254.169.254', '[fe80::1]', 'metadata.example'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'unique local': ['[fc00::1]', '[fd12:3456:789a::1]'],
  'a cloud platform': ['168.63.129.16', '0xa83f8110', '161.26.0.10', '166.9.48.1', 'azure.example'],
  'one of several': ['mixed.example'],
};
const NEVER_HOSTS = {
  unspecified: ['0.0.0.0', '0', '0.1.2.3', '[::]'],
  'v4-mapped': ['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:8.8.8.8]', '[::127.0.0.1]', 'mapped.example'],
  NAT64: ['[64:ff9b::7f00:1]', '[64:ff9b::127.0.0.1]', '[64:ff9b:1::a00:1]', '[64:ff9b:1:ffff::a00:1]'],
  'v4 in v6': [
    ...['[2002:7f00:1::]', '[2002:a83f:8110::1]', '[2001:0:7f00:1::]', '[2001:0:4136:e378:8000:63bf:3fff:fdd2]'],
    ...['[::ffff:0:127.0.0.1]', '[::a83f:8110]', '[2606:4700::5efe:10.0.0.1]', '[2606:4700::200:5efe:a00:1]'],
  ],
  'assigned to no host': [
    ...['[2001:1::1]', '[2001:2::1]', '[2001:10::1]', '[2001:20::1]', '[2001:30::1]', '[3fff::1]', '[5f00::1]'],
    ...['[100:0:0:1::1]', '[200::1]', '[4000::1]', '[feff::1]', '192.0.0.192', '192.88.99.1', '198.19.255.255'],
  ],
  'site-local, documentation, discard': [
    '[fec0::1]',
    '[2001:db8::1]',
    '[100::1]',
    '192.0.2.1',
    '198.51.100.1',
    '203.0.113.1',
  ],
  'multicast, broadcast, reserved': [
    '224.0.0.1',
    '255.255.255.255',
    '240.0.0.1',
    '[ff02::1]',
    '198.18.0.1',
    '192.0.0.1',
  ],
};

for (const [title, hosts] of Object.entries({ ...FORBIDDEN_HOSTS, ...NEVER_HOSTS })) {
  test(`The guard rejects addresses: ${title}`, async () => {
    for (const host of hosts) {
      const url = `https://${host}:8443/x`;
      await assert.rejects(closed.check(url), { code: 'not_valid', message: /^"url" must not point to / }, host);
      await assert.rejects(closed.addressesOf(new URL(url)), /must not point to/, host);
    }
  });
}

test('allowPrivate allows private networks, even without TLS, but only unicast addresses', async () => {
  for (const host of Object.values(FORBIDDEN_HOSTS).flat()) await open.check(`https://${host}/`);
  for (const host of Object.values(FORBIDDEN_HOSTS)
    .flat()
    .filter((host) => host !== 'mixed.example')) {
    await open.check(`http://${host}/`);
  }
  for (const host of Object.values(NEVER_HOSTS).flat())
    await assert.rejects(open.check(`https://${host}/`), { code: 'not_valid' }, host);
});

test('The guard requires https if any address is public', async () => {
  for (const url of ['http://93.184.215.14/', 'http://public.example/', 'http://mixed.example/']) {
    await assert.rejects(open.check(url), { message: /"url" must begin with https/ }, url);
    await assert.rejects(closed.check(url), { message: /"url" must begin with https/ }, url);
  }
});

test('The guard allows public addresses, and names that have only public addresses', async () => {
  assert.deepEqual(await closed.addressesOf(new URL('https://public.example/')), await resolve('public.example'));
  assert.deepEqual(await closed.addressesOf(new URL('https://8.8.8.8/')), [{ address: '8.8.8.8', family: 4 }]);
  const [v6] = await closed.addressesOf(new URL('https://[2606:4700::1]/'));
  assert.deepEqual(v6, { address: '2606:4700::1', family: 6 });
});

test('The guard accepts an unknown name, but throws on a bug in the lookup', async () => {
  await closed.check('https://unknown.example/');
  const broken = createTargetGuard({ allowPrivate: false, resolve: async () => [{ address: 'nonsense', family: 4 }] });
  await assert.rejects(broken.check('https://unknown.example/'), /address/);
});

test('The guard normalizes a URL to a form that every database can store', async () => {
  for (const [given, kept] of [
    ['https://PUBLIC.example', 'https://public.example/'],
    ['HTTPS://public.example:443/a b/é?q=ü', 'https://public.example/a%20b/%C3%A9?q=%C3%BC'],
    ['https://public.example/\0\ud800', 'https://public.example/%00%EF%BF%BD'],
    ['https://public.example/a\r\nHost: evil', 'https://public.example/aHost:%20evil'],
  ] as const) {
    assert.equal(await closed.check(given), kept);
  }
});

for (const [url, finding] of [
  ['', /must be a URL such as/],
  ['example.com', /must be a URL such as/],
  ['//example.com', /must be a URL such as/],
  ['https:example.com', /must be a URL such as/],
  ['https://', /must be a URL such as/],
  ['https://exa mple.com/', /must be a URL such as/],
  ['ftp://public.example/', /must be a URL such as/],
  ['file:///etc/passwd', /must be a URL such as/],
  ['javascript:alert(1)', /must be a URL such as/],
  ['http://public.example/', /must begin with https/],
  ['https://user:pass@public.example/', /must not contain a user name or a password/],
  ['https://public.example/#x', /must not contain a "#"/],
  [`https://public.example/${'x'.repeat(2000)}`, /must not be longer than 2000/],
] as const) {
  test(`The guard rejects "${url.slice(0, 40)}"`, async () => {
    await assert.rejects(closed.check(url), { code: 'not_valid', message: finding });
  });
}
