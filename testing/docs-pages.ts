// Lists the documentation pages whose commands tests run: those for an installed package and those for a checkout.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf } from './markdown.ts';

const ROOT = join(import.meta.dirname, '..');

/** Returns the pages whose commands need an installed `plant-store` only. */
export function installedPages(): string[] {
  return pagesWithCommands().filter((page) => !needsCheckout(page));
}

/** Returns the pages whose commands run in a checkout: they call npm. */
export function checkoutPages(): string[] {
  return pagesWithCommands().filter(needsCheckout);
}

function pagesWithCommands(): string[] {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()];
  return pages.filter((page) =>
    blocksOf(read(page)).some(({ language, comments }) => language === 'sh' && !comments.some(isNotRun)),
  );
}

function isNotRun(comment: string): boolean {
  return comment.startsWith('run: no');
}

function needsCheckout(page: string): boolean {
  return /^<!-- run: checkout -->$/m.test(read(page));
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}
