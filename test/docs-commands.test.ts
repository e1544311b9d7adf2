// A guide as a reader follows it. test/docs-commands.long.test.ts runs the others.

import { suite, test } from 'node:test';
import { QUICK_PAGES } from '../testing/docs-pages.ts';
import { runPage } from '../testing/run-page.ts';
import { needsCurl, needsTerminal } from '../testing/server.ts';

suite('the commands of a page work as the page describes', {
  concurrency: true,
  ...needsCurl,
  ...needsTerminal,
}, () => {
  for (const page of QUICK_PAGES) test(page, () => runPage(page));
});
