// Two guides as a reader follows them. test/docs-commands.long.test.ts runs the others.

import { test } from 'node:test';
import { QUICK_PAGES } from '../testing/docs-pages.ts';
import { runPage } from '../testing/run-page.ts';
import { needsCurl, needsTerminal } from '../testing/server.ts';

for (const page of QUICK_PAGES)
  test(`the commands of ${page} work as the page describes`, { ...needsCurl, ...needsTerminal }, () => runPage(page));
