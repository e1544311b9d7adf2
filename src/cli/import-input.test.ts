import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { makeFolder } from '../../testing/server.ts';

const SELF = new URL('./import-input.ts', import.meta.url).href;

for (const [name, work] of [
  ['returns', 'async (blob) => process.stdout.write(await blob.text())'],
  ['ends the process', 'async (blob) => { process.stdout.write(await blob.text()); process.exit(); }'],
] as const) {
  test(`the temporary copy of standard input is removed after work that ${name}`, () => {
    const folder = makeFolder();
    const code = `
      const { openInput, withBlob } = await import('${SELF}');
      const input = openInput('-', process.stdin);
      await withBlob(input, input.chunks, ${work});`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: folder },
      input: '{"id":1,"name":"a"}',
    });
    assert.equal(stdout, '{"id":1,"name":"a"}');
    assert.deepEqual(readdirSync(folder), []);
  });
}
