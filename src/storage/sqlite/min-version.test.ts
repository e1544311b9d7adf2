import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireMinVersion, sqliteVersion } from './min-version.ts';

test('an SQLite version that can corrupt its WAL is rejected, and the message names the Node versions to use', () => {
  for (const version of ['3.51.2', '3.50.4', '3.9.0', '2.99.99', '']) {
    assert.throws(() => requireMinVersion(version), {
      message: `This Node includes SQLite ${version}, which can corrupt a database. SQLite 3.51.3 or newer is required. Use Node 24.15, 26 or newer.`,
    });
  }
});

test('SQLite 3.51.3, later versions and the version of this Node are accepted', () => {
  for (const version of ['3.51.3', '3.51.10', '3.52.0', '4.0.0', sqliteVersion()]) requireMinVersion(version);
});
