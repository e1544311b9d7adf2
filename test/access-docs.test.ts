// The settings in the guides about access (TLS, proxies, JWTs, browsers) are accepted by the server.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConfig } from '../src/config/config.ts';

const GUIDES = join(import.meta.dirname, '../docs/guides');
const SETTINGS_BY_PAGE: Record<string, string[]> = {
  'browser-apps.md': ['CORS_ORIGINS'],
  'identity-provider.md': ['JWT_AUDIENCE', 'JWT_ISSUER', 'JWT_RATE', 'LOG_LEVEL'],
  'monitoring.md': ['ACCESS_LOG'],
  'reverse-proxy.md': ['ACCESS_LOG', 'BASE_PATH', 'TRUST_PROXY'],
  'tls.md': ['HOST', 'PORT', 'TLS_CERT', 'TLS_KEY'],
};
const NAMES = [...new Set(Object.values(SETTINGS_BY_PAGE).flat())];

for (const [page, expected] of Object.entries(SETTINGS_BY_PAGE)) {
  test(`the server accepts the settings in ${page}`, () => {
    const text = readFileSync(join(GUIDES, page), 'utf8');
    const assigned = [...text.matchAll(/(?<![\w-])([A-Z]+(?:_[A-Z]+)*)=([^\s`]+)/g)]
      .map(([, name = '', value = '']) => ({ name, value }))
      .filter(({ name }) => NAMES.includes(name));
    for (const name of expected)
      assert.ok(
        assigned.some((one) => one.name === name),
        name,
      );
    const latest = Object.fromEntries(assigned.map(({ name, value }) => [name, value]));
    for (const { name, value } of assigned) readConfig({ ...latest, [name]: value });
  });
}
