// Copies the program and disables a safeguard. A trial that passes on such a build proves nothing.

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

/** An edit to a source file. `from` must occur exactly once, so a control must be updated when its code moves. */
export type Change = readonly [file: string, from: string, to: string];

/** Returns the path of the build's launcher. */
export function makeBrokenBuild(changes: Change[], t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'plant-store-broken-'));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })); // its server may still write its compile cache
  for (const name of ['bin', 'src', 'package.json'])
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, verbatimSymlinks: true });
  for (const name of ['node_modules', 'dist']) symlinkSync(join(ROOT, name), join(folder, name));
  for (const [file, text] of applyAll(changes)) writeFileSync(join(folder, file), text);
  return join(folder, 'bin/plant-store.js');
}

export function assertFits(changes: Change[]): void {
  applyAll(changes);
}

function applyAll(changes: Change[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const [file, from, to] of changes) {
    const text = texts.get(file) ?? readFileSync(join(ROOT, file), 'utf8');
    assert.equal(text.split(from).length, 2, `${file} does not have this exactly once: ${from}`);
    texts.set(
      file,
      text.replace(from, () => to),
    );
  }
  return texts;
}
