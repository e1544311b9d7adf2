import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isActive, type Token } from './token.ts';

const TOKEN: Token = {
  id: 'tok_1',
  name: 'x',
  scopes: ['plants:read'],
  createdMs: 0,
  expiresMs: null,
  revokedMs: null,
  rate: null,
  lastUsedMs: null,
  oldSecretUntilMs: null,
};

test('isActive() returns false after expiry or revocation', () => {
  assert.equal(isActive(TOKEN, 1e15), true);
  assert.equal(isActive({ ...TOKEN, expiresMs: 1000 }, 999), true);
  assert.equal(isActive({ ...TOKEN, expiresMs: 1000 }, 1000), false);
  assert.equal(isActive({ ...TOKEN, revokedMs: 1000 }, 0), false);
});
