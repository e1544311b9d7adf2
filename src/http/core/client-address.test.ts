// Tests of the client address under TRUST_PROXY. Limits apply to the network of this address.

import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { createAddressOf, networkOf } from './client-address.ts';

const PROXY = '127.0.0.1';

/** Returns the address of a request that the proxy forwards. */
function networkFrom(trusted: string[] | number | undefined, ...chain: string[]): string {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: PROXY });
  const request = new IncomingMessage(socket);
  request.headers['x-forwarded-for'] = chain.join(', ');
  return networkOf(createAddressOf(trusted)(request));
}

test('the client is the last address that is not a trusted proxy', () => {
  const from = (...chain: string[]) => networkFrom(['loopback', '10.9.0.0/16'], ...chain);
  assert.equal(from('192.0.2.1', '198.51.100.20', '10.9.1.1'), '198.51.100.20');
  assert.equal(from('198.51.100.20'), '198.51.100.20');
  assert.equal(from('198.51.100.21', '10.9.1.1'), '198.51.100.21');
});

test('an IPv6 network counts as one address, with or without a port', () => {
  const from = (...chain: string[]) => networkFrom(['loopback'], ...chain);
  assert.equal(from('2001:db8:1:2::1'), from('2001:db8:1:2:ffff::1'));
  assert.notEqual(from('2001:db8:1:2::1'), from('2001:db8:1:3::1'));
  assert.equal(from('203.0.113.50:20001'), '203.0.113.50');
  assert.equal(from('[2001:db8:9::1]:20001'), from('2001:db8:9::2'));
});

test('text that is not an address is replaced by the address of the proxy', () => {
  assert.equal(networkFrom(['loopback'], 'nonsense'), PROXY);
  assert.equal(networkFrom(['loopback'], 'more nonsense'), PROXY);
});

test('without trusted proxies a client cannot choose its address', () => {
  assert.equal(networkFrom(undefined, '192.0.2.1'), PROXY);
});

test('a number of trusted proxies selects the address that the outermost of them saw', () => {
  assert.equal(networkFrom(1, '192.0.2.1'), '192.0.2.1');
  assert.equal(networkFrom(1, '192.0.2.1', '203.0.113.9'), '203.0.113.9');
});
