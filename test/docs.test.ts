// The form of the documentation: length, links, sentences, and the commands that a test runs.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { anchorsOf, blocksOf, countWords, linksOf, sentencesOf } from '../testing/markdown.ts';

const ROOT = join(import.meta.dirname, '..');
const MAX_README_LINES = 150;
const MAX_README_WORDS = 1000;
const MAX_MEAN_WORDS = 18;
/** Reasons for which a command is not run: its block has a comment such as `run: no, needs Docker`. */
const NOT_RUN = /^run: no, (?:needs|takes) \S/;

const DOCS = globSync('docs/**/*.md', { cwd: ROOT }).sort();
const PAGES = [...globSync('*.md', { cwd: ROOT }), ...DOCS];

test('the README has at most 150 lines and 1,000 words', () => {
  const readme = read('README.md');
  assert.ok(readme.split('\n').length <= MAX_README_LINES + 1);
  assert.ok(countWords(readme) <= MAX_README_WORDS, String(countWords(readme)));
});

test('the README names the test command that CI runs', () => {
  const [, testCommand = ''] = /^```sh\n(.*npm test)\n```$/m.exec(read('README.md')) ?? [];
  assert.ok(read('.ci/run').endsWith(`\n${testCommand}\n`), testCommand);
});

test('every npm script that a page names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  for (const page of PAGES) {
    const named = [...read(page).matchAll(/\bnpm run (?:--silent )?([\w:-]*\w)/g)].map(([, name = '']) => name);
    assert.deepEqual(
      named.filter((name) => !(name in scripts)),
      [],
      page,
    );
  }
});

for (const page of PAGES) {
  test(`every link of ${page} points to an existing file and anchor`, () => {
    const broken = linksOf(read(page)).filter((link) => !/^[a-z]+:/.test(link) && !isThere(page, link));
    assert.deepEqual(broken, []);
  });
}

test('a link to a missing file or anchor is found', () => {
  for (const link of ['nothing.md', 'README.md#nothing', '#nothing']) assert.equal(isThere('README.md', link), false);
});

test('the index of the docs links to every page, and that of the decisions to every decision', () => {
  for (const [index, pages] of [
    ['docs/README.md', DOCS.filter((page) => !/^docs\/(decisions|results)\/|^docs\/README/.test(page))],
    ['docs/decisions/README.md', DOCS.filter((page) => /^docs\/decisions\/\d/.test(page))],
  ] as const) {
    const linked = linksOf(read(index)).map((link) => join(dirname(index), link));
    assert.ok(pages.length > 10);
    assert.deepEqual(
      pages.filter((page) => !linked.includes(page)),
      [],
      index,
    );
  }
});

test('the index names each page by its title', () => {
  for (const [, text, link = ''] of read('docs/README.md').matchAll(/^\|.*\[([^\]]+)\]\(([^)#]+)\)/gm)) {
    assert.equal(text, /^# (.+)$/m.exec(read(join('docs', link)))?.[1], link);
  }
});

test('the sentences of the docs have at most 18 words on average', () => {
  const counts = DOCS.flatMap((page) => sentencesOf(read(page))).map(countWords);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  assert.ok(counts.length > 500 && mean <= MAX_MEAN_WORDS, `${mean.toFixed(1)} words`);
});

test('every block of commands in the README and the docs is run, or has a reason why not', () => {
  for (const page of ['README.md', ...DOCS]) {
    for (const { comments } of blocksOf(read(page))) {
      for (const comment of comments.filter((each) => each.startsWith('run: no'))) assert.match(comment, NOT_RUN, page);
    }
  }
});

function isThere(page: string, link: string): boolean {
  const [path = '', anchor] = decodeURI(link).split('#');
  const target = path === '' ? page : join(dirname(page), path);
  const file = existsSync(join(ROOT, target, 'README.md')) ? join(target, 'README.md') : target;
  if (!existsSync(join(ROOT, file)) || relative(ROOT, join(ROOT, file)).startsWith('..')) return false;
  return anchor === undefined || anchorsOf(read(file)).includes(anchor);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
