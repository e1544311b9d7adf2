import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isLocalHost } from './local-host.ts';

const LOCAL = ['localhost', 'shop.localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '::ffff:127.0.0.1'];
const OTHERS = ['127.evil.example', 'localhost.example', 'notlocalhost', '128.0.0.1', '[::2]', '0.0.0.0', '::', ''];

test('names and loopback addresses of this machine are local, and no other hosts', () => {
  assert.deepEqual([...LOCAL, ...OTHERS].filter(isLocalHost), LOCAL);
});
