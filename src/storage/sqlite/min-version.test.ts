import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requireMinVersion, sqliteVersion } from './min-version.ts';

test('an SQLite that can corrupt its log is refused, with what to do', () => {
  for (const version of ['3.51.2', '3.50.4', '3.9.0', '2.99.99', '']) {
    assert.throws(() => requireMinVersion(version), {
      message: `This Node has SQLite ${version}, which can corrupt a database (3.51.3 is needed): use Node 24.15, 26 or newer`,
    });
  }
});

test('3.51.3 and what came after it are taken, as is the one that runs this', () => {
  for (const version of ['3.51.3', '3.51.10', '3.52.0', '4.0.0', sqliteVersion()]) requireMinVersion(version);
});
