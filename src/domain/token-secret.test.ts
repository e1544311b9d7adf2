import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { hashSecret, isSecret, mintSecret } from './token-secret.ts';

test('mintSecret() returns pst_, 30 random and 6 checksum characters in base62', () => {
  const secrets = Array.from({ length: 1000 }, () => mintSecret());
  assert.equal(new Set(secrets).size, 1000);
  for (const secret of secrets) {
    assert.match(secret, /^pst_[0-9A-Za-z]{36}$/);
    assert.ok(isSecret(secret));
  }
});

test('the checksum is the CRC32 of the preceding characters, in base62', () => {
  const secret = mintSecret();
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  const value = [...secret.slice(-6)].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0);
  assert.equal(value, crc32(secret.slice(0, -6)));
});

test('isSecret() detects every typo of one character', () => {
  const secret = mintSecret();
  fc.assert(
    fc.property(fc.nat(secret.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, typo) => {
      fc.pre(typo !== secret[at]);
      assert.equal(isSecret(secret.slice(0, at) + typo + secret.slice(at + 1)), false);
    }),
    { numRuns: 1000 },
  );
  for (const text of ['', 'pst_', secret.slice(1), `${secret}0`, ` ${secret}`, `${secret}\n`]) {
    assert.equal(isSecret(text), false);
  }
});

test('hashSecret() is SHA-256 in hex', () => {
  assert.equal(hashSecret('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
});
