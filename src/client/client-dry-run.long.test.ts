// Tests the client's dry runs against the server, on both databases: they report what an import then does.

import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { DATABASES } from '../../testing/both-databases.ts';
import { collect } from '../../testing/scripted-server.ts';
import { startTestService, type TestService } from '../../testing/service.ts';
import { createClient, type FileType, type ImportProgress, type NewPlant, type PlantStoreClient } from './client.ts';

const NDJSON = 'application/x-ndjson';

for (const [title, databaseOf, needs] of DATABASES) {
  suite(`dry runs, on ${title}`, needs, () => {
    let server: TestService;
    let client: PlantStoreClient;
    let calls: string[] = [];
    before(async () => {
      const databaseUrl = await databaseOf();
      server = await startTestService({ ...(databaseUrl && { databaseUrl }) });
      const countingFetch: typeof fetch = (url, init) => {
        calls.push(`${init?.method} ${new URL(String(url)).pathname}${new URL(String(url)).search}`);
        return fetch(url, init);
      };
      client = createClient({ url: server.url, token: server.secret, fetch: countingFetch });
      await client.import([
        { id: 1n, name: 'stored' },
        { id: 2n, name: 'stored', tag: '' },
        { id: 9223372036854775807n, name: 'stored' },
      ]);
    });

    /** Returns the state of the store that an import could change. */
    async function readState(): Promise<[number, NewPlant[]]> {
      const { seq, plants } = await client.export();
      assert.equal(await client.lastSeq(), seq);
      return [seq, await collect(plants)];
    }

    test('importFile() in one request reports what an import does, and stores nothing', async () => {
      const filler = Array.from({ length: 30_000 }, (_, n) => `{"id":${n + 1000},"name":"${'x'.repeat(60)}"}\n`).join(
        '',
      );
      const files: [FileType, string, object][] = [
        [NDJSON, '', { created: 0, replayed: 0, failed: 0 }],
        [
          'text/csv',
          'id,name,tag\n1,stored,\n2,stored,""\n2,stored,\n3,new,t\n3,new,t\nx,bad,\n',
          { created: 1, replayed: 3, failed: 2 },
        ],
        [
          NDJSON,
          `{"id":5,"name":"first"}\n${filler}{"id":5,"name":"second"}\n{"id":5,"name":"first"}\nnope\n`,
          { created: 30_001, replayed: 1, failed: 2 },
        ],
        [NDJSON, '{"id":9223372036854775807,"name":"other"}\n', { created: 0, replayed: 0, failed: 1 }],
      ];
      for (const [type, text, expected] of files) {
        const file = new Blob([text]);
        const before = await readState();
        const progress: ImportProgress[] = [];
        calls = [];
        const dry = await client.importFile(file, { type, dryRun: true, onProgress: (made) => progress.push(made) });
        assert.deepEqual(calls, ['POST /plants/import?dryRun=true']);
        assert.deepEqual(progress, [{ bytes: file.size, totalBytes: file.size, result: dry, piece: dry }]);
        const { errors, ...counts } = dry;
        assert.deepEqual(counts, expected);
        assert.equal(errors.length, counts.failed);
        assert.deepEqual(await readState(), before);
        assert.deepEqual(await client.importFile(file, { type }), dry);
      }
    });

    test('import() with dryRun finds an id that occurs twice among more than 1,000 plants', async () => {
      const plants = Array.from({ length: 2500 }, (_, n) => ({ id: BigInt(n) - 5000n, name: 'x' }));
      const twice = [...plants, { id: -5000n, name: 'other' }, { id: -4999n, name: 'x' }];
      const before = await readState();
      const { errors, ...counts } = await client.import(twice, { dryRun: true });
      assert.deepEqual(counts, { created: 2500, replayed: 1, failed: 1 });
      assert.deepEqual(
        errors.map(({ line, error }) => [line, error.code]),
        [[2501, 'id_taken']],
      );
      assert.deepEqual(await readState(), before);
      assert.deepEqual(await client.import([], { dryRun: true }), { created: 0, replayed: 0, failed: 0, errors: [] });
      assert.equal((await client.import(plants, { dryRun: false })).created, 2500);
    });
  });
}

test('the timeout of a dry run applies to each MiB of the file', async () => {
  const deaf: typeof fetch = () => new Promise(() => {});
  const client = createClient({ url: 'http://127.0.0.1', token: 't', timeoutMs: 20, retries: 0, fetch: deaf });
  const file = new Blob([new Uint8Array(2.5 * 1024 * 1024)]);
  const timedOut = (timeMs: number) => ({ code: 'unavailable', message: new RegExp(`timed out after ${timeMs} ms`) });
  await assert.rejects(client.importFile(file, { type: NDJSON, dryRun: true }), timedOut(60));
  await assert.rejects(client.importFile(file, { type: NDJSON, dryRun: true, timeoutMs: 10 }), timedOut(30));
  await assert.rejects(client.import([{ id: 1n, name: 'x' }], { dryRun: true }), timedOut(20));
});
