import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { failureOf } from './pg-errors.ts';

test('failureOf() classifies errors by SQLSTATE', () => {
  const withCode = (code: string) => Object.assign(new pg.DatabaseError('x', 1, 'error'), { code, severity: 'ERROR' });
  for (const [code, failure] of [
    ['40001', 'conflict'],
    ['40P01', 'conflict'],
    ['57014', 'busy'],
    ['53300', 'busy'],
    ['53100', 'full'],
    ['57P01', 'unreachable'],
    ['08006', 'unreachable'],
    ['25006', 'unreachable'],
    ['42P01', 'bug'],
    ['22021', 'bug'],
  ] as const) {
    assert.equal(failureOf(withCode(code)), failure, code);
  }
  assert.equal(failureOf(Object.assign(new Error('x'), { code: 'ECONNRESET' })), 'unreachable');
  assert.equal(failureOf(new TypeError('x')), 'bug');
});
