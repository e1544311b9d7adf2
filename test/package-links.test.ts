// The links of the packed pages: each leads to a file that is in the package, too.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { readPacked } from '../packaging/pack.ts';
import { linksOf } from '../testing/markdown.ts';

const ROOT = join(import.meta.dirname, '..');

test('no page in the package has a link or a picture that the package lacks', () => {
  const printed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const paths = readPacked(printed).files.map(({ path }) => path);
  const pages = paths.filter((path) => path.endsWith('.md'));
  assert.ok(pages.includes('README.md') && pages.length > 50);
  const dead = pages.flatMap((page) =>
    targetsOf(page)
      .filter((target) => !paths.includes(target))
      .map((target) => `${page}: ${target}`),
  );
  assert.deepEqual(dead, []);
});

/** Returns the files to which a page links. Other tests check the anchors. */
function targetsOf(page: string): string[] {
  const links = linksOf(readFileSync(join(ROOT, page), 'utf8')).map((link) => link.replace(/#.*/, ''));
  return links
    .filter((link) => link !== '' && !/^[a-z]+:/.test(link))
    .map((link) => join(dirname(page), decodeURI(link)));
}
