// Any body at all: what fits the schema is stored as it is, everything else gets its documented error and leaves no
// trace in the database.

import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { type CheckAnswer, createCheck } from './description.ts';
import { post } from './request.ts';
import { startServer, type TestServer } from './server.ts';

const RUNS = Number(process.env.ANY_BODY_RUNS ?? 800);
const MIN_ID = -(2n ** 63n);
const MAX_ID = 2n ** 63n - 1n;

let server: TestServer;
let check: CheckAnswer;
let db: DatabaseSync;
before(async () => {
  server = await startServer();
  check = await createCheck(server.port);
  db = new DatabaseSync(server.databasePath, { readOnly: true, readBigInts: true, timeout: 5000 });
});
after(async () => {
  db.close();
  await server.stop();
});

test('bytes that are nobody’s JSON', () => allRefused(fc.uint8Array({ maxLength: 200 })));
test('text that is nobody’s JSON', () => allRefused(fc.string({ unit: 'binary', maxLength: 200 })));
test('JSON that is nobody’s plant', () => allRefused(fc.json()));
test('a plant with a byte lost, doubled or changed', () =>
  fc.assert(
    fc.asyncProperty(fc.nat(48), fc.constantFrom('', '"', '{', '\\', ',', '\0', '\xff', '9'), async (at, change) => {
      const good = '{"id":-77,"name":"Monstera deliciosa","tag":"x"}';
      await sendAndJudge(Buffer.from(good.slice(0, at) + change + good.slice(at + 1), 'latin1'));
    }),
    { numRuns: RUNS },
  ));

/** JSON texts of a member, with the value that a reader of the schema would see, or undefined if it does not fit. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('', ' ', 'a\0', '\ud800', 'x\udfff', '\ud83c\udf35', '9007199254740993', '"id":1'),
);
const textMember = fc.oneof(
  {
    weight: 5,
    arbitrary: anyText.map((text) => ({ json: JSON.stringify(text), value: isStorable(text) ? text : undefined })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('null', '5', 'true', '[]', '{}').map((json) => ({ json, value: undefined })),
  },
);
const idMember = fc.oneof(
  { weight: 4, arbitrary: fc.bigInt({ min: MIN_ID, max: MAX_ID }).map((id) => ({ json: String(id), value: id })) },
  { weight: 2, arbitrary: fc.integer().map((id) => ({ json: `${id}.0e0`, value: BigInt(id) })) },
  {
    weight: 1,
    arbitrary: fc.integer({ min: 1, max: 99 }).map((id) => ({ json: `${id}e17`, value: fit(BigInt(id) * 10n ** 17n) })),
  },
  {
    weight: 1,
    arbitrary: fc.bigInt({ min: MAX_ID + 1n, max: MAX_ID * 4n }).map((id) => ({ json: String(id), value: undefined })),
  },
  { weight: 1, arbitrary: fc.integer().map((id) => ({ json: `${id}.00000000000000000001`, value: undefined })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('null', '"5"', '"Infinity"', 'true', '[1]', '{"toString":1}', '[{"valueOf":1}]', '1e400', '1e-400')
      .map((json) => ({ json, value: undefined })),
  },
);

test('plants and near-plants: stored verbatim exactly when they fit the schema', () =>
  fc.assert(
    fc.asyncProperty(
      idMember,
      textMember,
      fc.option(textMember),
      fc.json({ maxDepth: 3 }),
      async (id, name, tag, other) => {
        const members = [
          `"other":${other}`,
          `"name":${name.json}`,
          ...(tag ? [`"tag":${tag.json}`] : []),
          `"id":${id.json}`,
        ];
        const before = counts();
        const taken = id.value !== undefined && find(id.value);
        const answer = await sendAndJudge(Buffer.from(`{${members.join(',')}}`));
        if (id.value === undefined || name.value === undefined || (tag && tag.value === undefined)) {
          assert.equal(answer.status, 400);
          return;
        }
        const expected = { name: name.value, tag: tag?.value ?? null };
        if (taken) {
          assert.deepEqual(counts(), before);
          assert.equal(answer.status, taken.name === expected.name && taken.tag === expected.tag ? 200 : 400);
          return;
        }
        assert.equal(answer.status, 200, answer.body);
        assert.deepEqual(find(id.value), expected);
        assert.deepEqual(counts(), { plants: before.plants + 1n, changes: before.changes + 1n });
        assert.deepEqual(JSON.parse(answer.body), tag ? expected : { name: expected.name });
        assert.equal(answer.headers.location, `/plants/${id.value}`);
      },
    ),
    { numRuns: RUNS },
  ));

function allRefused(bodies: fc.Arbitrary<string | Uint8Array>): Promise<void> {
  return fc.assert(
    fc.asyncProperty(bodies, async (body) => {
      assert.equal((await sendAndJudge(body)).status, 400);
    }),
    { numRuns: RUNS },
  );
}

/** Whatever was sent: 200, or a documented 400 that has changed nothing. */
async function sendAndJudge(body: string | Uint8Array) {
  const before = counts();
  const answer = await post(server, body);
  check('POST', '/plants', answer);
  assert.ok(answer.status === 200 || answer.status === 400, `${answer.status} ${answer.body}`);
  if (answer.status === 400) {
    assert.ok([40001, 40002, 40009].includes(JSON.parse(answer.body).error), answer.body);
    assert.deepEqual(counts(), before, 'a refused body left a trace');
  }
  return answer;
}

function counts(): { plants: bigint; changes: bigint } {
  const row = db
    .prepare('SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes')
    .get();
  return { ...(row as { plants: bigint; changes: bigint }) };
}

function find(id: bigint): { name: string; tag: string | null } | undefined {
  const row = db.prepare('SELECT name, tag FROM plants WHERE id = ?').get(id);
  return row && { ...(row as { name: string; tag: string | null }) };
}

function isStorable(text: string): boolean {
  return !/\0/.test(text) && !/\p{Surrogate}/u.test(text);
}

function fit(id: bigint): bigint | undefined {
  return id >= MIN_ID && id <= MAX_ID ? id : undefined;
}
