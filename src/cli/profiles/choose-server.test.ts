// Tests which server and token a command uses, for each combination of options, variables and saved profiles.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../config/config.ts';
import { UsageError } from '../../lib/user-error.ts';
import { chooseServer, findOverride, requireServer, type ServerOptions } from './choose-server.ts';
import type { Profiles } from './profile-file.ts';

const LOCAL = 'http://127.0.0.1:3000';
const HOME = 'https://home.example.com/store';
const WORK = 'https://work.example.com';
const PROFILES: Profiles = {
  current: 'home',
  byName: new Map([
    ['old-home', { url: HOME, token: 'old-token' }],
    ['home', { url: HOME, token: 'home-token' }],
    ['work', { url: WORK, token: 'work-token' }],
  ]),
};

interface Row {
  when: string;
  options?: ServerOptions;
  env?: Record<string, string>;
  /** Current profile. It is `home` by default. */
  current?: string | undefined;
  /** URL, token and source of the token, or the message of a UsageError. */
  expected: [url: string, token?: string, source?: string] | RegExp;
}

const SECRET = { PLANT_STORE_TOKEN: 'own-token' };
const ROWS: Row[] = [
  { when: 'nothing else is set: the current profile', expected: [HOME, 'home-token', 'home'] },
  { when: 'no profile is current', current: undefined, expected: [LOCAL] },
  { when: 'the current profile no longer exists', current: 'gone', expected: [LOCAL] },

  { when: '--profile is set', options: { profile: 'work' }, expected: [WORK, 'work-token', 'work'] },
  {
    when: '--profile is set, and all variables',
    options: { profile: 'work' },
    env: { ...SECRET, PLANT_STORE_URL: HOME, PLANT_STORE_PROFILE: 'home', PORT: '8080' },
    expected: [WORK, 'work-token', 'work'],
  },
  {
    when: '--profile is unknown',
    options: { profile: 'x' },
    expected: /"x"\. Saved profiles: old-home, home, work\.$/,
  },
  { when: '--profile is a property of objects', options: { profile: 'constructor' }, expected: /"constructor"/ },
  { when: '--profile is a secret', options: { profile: 'pst_x' }, expected: /^The name of a profile must (?!.*pst_)/ },

  { when: '--url is that of two profiles', options: { url: HOME }, expected: [HOME, 'home-token', 'home'] },
  {
    when: '--url is that of two profiles, neither current',
    options: { url: `${HOME}/` },
    current: 'work',
    expected: [`${HOME}/`, 'old-token', 'old-home'],
  },
  { when: '--url and PLANT_STORE_TOKEN are set', options: { url: WORK }, env: SECRET, expected: [WORK, 'own-token'] },
  {
    when: '--url and PLANT_STORE_PROFILE are set',
    options: { url: WORK },
    env: { PLANT_STORE_PROFILE: 'home' },
    expected: [WORK, 'work-token', 'work'],
  },
  { when: '--url is invalid', options: { url: 'localhost' }, expected: /^--url must be the URL of a server/ },

  { when: 'PLANT_STORE_PROFILE is set', env: { PLANT_STORE_PROFILE: 'work' }, expected: [WORK, 'work-token', 'work'] },
  {
    when: 'PLANT_STORE_PROFILE and PORT are set',
    env: { PLANT_STORE_PROFILE: 'work', PORT: '8080' },
    expected: [WORK, 'work-token', 'work'],
  },
  {
    when: 'PLANT_STORE_PROFILE and PLANT_STORE_TOKEN are set',
    env: { PLANT_STORE_PROFILE: 'work', ...SECRET },
    expected: /^PLANT_STORE_PROFILE and PLANT_STORE_TOKEN exclude each other\. Unset one of them\.$/,
  },
  {
    when: 'PLANT_STORE_PROFILE and PLANT_STORE_URL are set',
    env: { PLANT_STORE_PROFILE: 'work', PLANT_STORE_URL: WORK },
    expected: /^PLANT_STORE_PROFILE and PLANT_STORE_URL exclude each other/,
  },
  {
    when: 'PLANT_STORE_PROFILE is unknown',
    env: { PLANT_STORE_PROFILE: 'x' },
    expected: /^No profile has the name "x"/,
  },

  { when: 'PLANT_STORE_URL is set', env: { PLANT_STORE_URL: WORK }, expected: [WORK, 'work-token', 'work'] },
  {
    when: 'PLANT_STORE_URL and _TOKEN are set',
    env: { PLANT_STORE_URL: WORK, ...SECRET },
    expected: [WORK, 'own-token'],
  },
  { when: 'PLANT_STORE_TOKEN is set', env: SECRET, expected: [LOCAL, 'own-token'] },
  { when: 'PORT is set and a profile is current', env: { PORT: '8080' }, expected: [HOME, 'home-token', 'home'] },
  {
    when: 'PORT is set and no profile is current',
    env: { PORT: '8080' },
    current: undefined,
    expected: ['http://127.0.0.1:8080'],
  },
  {
    when: 'BASE_PATH is set and no profile is current',
    env: { BASE_PATH: '/store' },
    current: undefined,
    expected: [`${LOCAL}/store`],
  },
  { when: 'PORT is 0', env: { PORT: '0' }, expected: [HOME, 'home-token', 'home'] },
  { when: 'PORT is 0 and no profile is current', env: { PORT: '0' }, current: undefined, expected: /^PORT is 0/ },
  { when: 'PLANT_STORE_TOKEN is not a token', env: { PLANT_STORE_TOKEN: 'a b' }, expected: /invalid character/ },
];

for (const { when, options = {}, env = {}, expected, ...row } of ROWS) {
  test(`the server and the token if ${when}`, () => {
    const profiles = { ...PROFILES, current: 'current' in row ? row.current : 'home' };
    const choose = () => requireServer(chooseServer(options, readConfig(env), () => profiles));
    if (expected instanceof RegExp) {
      assert.throws(choose, (error) => error instanceof UsageError && expected.test(error.message));
      return;
    }
    const { url, credential } = choose();
    const source = credential?.source.kind === 'profile' ? credential.source.name : undefined;
    assert.deepEqual([url, credential?.token, source], [expected[0], expected[1], expected[2]]);
  });
}

test('the token of a profile is never used with another URL', () => {
  const others = [
    HOME.replace('https:', 'http:'),
    HOME.replace('home.', 'Home.').replace('.com', '.com:8443'),
    HOME.replace('example.com', 'example.com.evil.org'),
    HOME.replace('https://', 'https://me:word@'),
    'https://home.example.com',
    `${HOME}/more`,
    `${HOME}?x`,
    LOCAL,
  ];
  for (const url of others) {
    const byOption = chooseServer({ url }, readConfig({ PLANT_STORE_PROFILE: 'home' }), () => PROFILES);
    const byVariable = chooseServer({}, { ...readConfig({ PLANT_STORE_URL: LOCAL }), serverUrl: url }, () => PROFILES);
    assert.deepEqual([byOption, byVariable], Array(2).fill({ url, isSelected: true, credential: undefined }));
  }
});

for (const [when, env, current, isSelected] of [
  ['the current profile', {}, 'home', true],
  ['the current profile, although PORT and HOST are set', { PORT: '8081', HOST: '0.0.0.0' }, 'home', true],
  ['PLANT_STORE_URL', { PLANT_STORE_URL: WORK, ...SECRET }, undefined, true],
  ['PLANT_STORE_PROFILE', { PLANT_STORE_PROFILE: 'work' }, 'home', true],
  ['PLANT_STORE_TOKEN', SECRET, 'home', false],
  ['PORT, although a profile that is not current has this URL', { PORT: '8080' }, undefined, false],
  ['nothing, although a profile that is not current has the default URL', {}, undefined, false],
] as const) {
  test(`import and other commands use ${isSelected ? 'a server' : 'the database'} because of ${when}`, () => {
    const byName = new Map([
      ...PROFILES.byName,
      ['local', { url: 'http://127.0.0.1:8080', token: 'x' }],
      ['default', { url: LOCAL, token: 'y' }],
    ]);
    assert.equal(chooseServer({}, readConfig(env), () => ({ current, byName }))?.isSelected, isSelected);
  });
}

test('profiles are not read if the environment has the token', () => {
  const fail = () => assert.fail('the profiles were read');
  assert.equal(chooseServer({ url: HOME }, readConfig(SECRET), fail)?.url, HOME);
  assert.equal(chooseServer({}, readConfig(SECRET), fail)?.url, LOCAL);
});

test('findOverride() names the variable because of which commands do not use a profile', () => {
  for (const [env, expected] of [
    [{}, undefined],
    [{ PLANT_STORE_PROFILE: 'work' }, undefined],
    [{ PLANT_STORE_URL: `${WORK}/` }, undefined],
    [{ PLANT_STORE_PROFILE: 'home' }, 'PLANT_STORE_PROFILE'],
    [{ PLANT_STORE_URL: HOME }, 'PLANT_STORE_URL'],
    [SECRET, 'PLANT_STORE_TOKEN'],
    [{ PORT: '0' }, undefined],
    [{ PORT: '8080' }, undefined],
  ] as const) {
    assert.equal(findOverride(readConfig(env), 'work', WORK), expected);
  }
});
