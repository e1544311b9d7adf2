// Bodies for POST /plants: arbitrary bytes, text and JSON, and valid or nearly valid plants. Each has the plant that
// the schema defines for it.

import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';

const MIN_ID = -(2n ** 63n);
const MAX_ID = 2n ** 63n - 1n;

export interface PlantBody {
  body: string | Uint8Array;
  /** The plant, undefined if the body is invalid, or null if the validity depends on a random change. */
  plant: { id: bigint; name: string; tag: string | null } | undefined | null;
}

/** The JSON of a field and its value, or undefined if the value is invalid. */
interface Member<T> {
  json: string;
  value: T | undefined;
}

const anyText = fc.oneof(
  fc.string({ unit: codePoints }),
  fc.constantFrom('', ' ', 'a\0', '\ud800', 'x\udfff', '\ud83c\udf35', '9007199254740993', '"id":1'),
);
const noText = fc.constantFrom('null', '5', 'true', '[]', '{}');
const textMember: fc.Arbitrary<Member<string>> = fc.oneof(
  { weight: 8, arbitrary: anyText.map((text) => ({ json: JSON.stringify(text), value: storable(text) })) },
  { weight: 1, arbitrary: noText.map((json) => ({ json, value: undefined })) },
);
const noId = fc.constantFrom(
  ...['null', '"5"', '"Infinity"', 'true', '[1]', '{"toString":1}', '[{"valueOf":1}]', '1e400', '1e-400'],
);
const idMember: fc.Arbitrary<Member<bigint>> = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt({ min: MIN_ID, max: MAX_ID }).map((id) => ({ json: `${id}`, value: id })) },
  { weight: 2, arbitrary: fc.integer().map((id) => ({ json: `${id}.0e0`, value: BigInt(id) })) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 99 }).map((id) => ({ json: `${id}e17`, value: fit(id) })) },
  {
    weight: 1,
    arbitrary: fc.bigInt({ min: MAX_ID + 1n, max: MAX_ID * 4n }).map((id) => ({ json: `${id}`, value: undefined })),
  },
  { weight: 1, arbitrary: fc.integer().map((id) => ({ json: `${id}.00000000000000000001`, value: undefined })) },
  { weight: 1, arbitrary: noId.map((json) => ({ json, value: undefined })) },
);

const nearPlants = fc
  .tuple(idMember, textMember, fc.option(textMember, { freq: 2 }), fc.json({ maxDepth: 2 }))
  .map(([id, name, tag, other]): PlantBody => {
    const body = `{"other":${other},"name":${name.json},${tag ? `"tag":${tag.json},` : ''}"id":${id.json}}`;
    const isUnfit = id.value === undefined || name.value === undefined || (tag && tag.value === undefined);
    if (isUnfit || id.value === undefined || name.value === undefined) return { body, plant: undefined };
    return { body, plant: { id: id.value, name: name.value, tag: tag?.value ?? null } };
  });

const GOOD = '{"id":-77,"name":"Monstera deliciosa","tag":"x"}';
const damaged = fc
  .tuple(fc.nat(GOOD.length), fc.constantFrom('', '"', '{', '\\', ',', '\0', '\xff', '9'))
  .map(([at, change]) => ({
    body: Buffer.from(GOOD.slice(0, at) + change + GOOD.slice(at + 1), 'latin1'),
    plant: null,
  }));

const invalidBodies = fc
  .oneof(fc.uint8Array({ maxLength: 200 }), fc.string({ unit: codePoints, maxLength: 200 }), fc.json())
  .map((body) => ({ body, plant: undefined }));

export const plantBodies: fc.Arbitrary<PlantBody> = fc.oneof(
  { weight: 4, arbitrary: nearPlants },
  { weight: 2, arbitrary: invalidBodies },
  { weight: 1, arbitrary: damaged },
);

function storable(text: string): string | undefined {
  return text.includes('\0') || !text.isWellFormed() ? undefined : text;
}

function fit(id: number): bigint | undefined {
  const value = BigInt(id) * 10n ** 17n;
  return value <= MAX_ID ? value : undefined;
}
