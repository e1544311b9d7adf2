// JSON texts that a schema of the OpenAPI description allows, and texts that it nearly allows.

import fc from 'fast-check';
import { codePoints } from '../../testing/code-points.ts';

export type Schema = Record<string, unknown>;

/** Hints by the name of the field or parameter, and its schema. */
export interface Hints {
  /** The only allowed values, where the schema cannot express the constraint. */
  only(name: string, schema: Schema): fc.Arbitrary<string> | undefined;
  /** Values that make requests refer to the same objects. */
  likely(name: string, schema: Schema): fc.Arbitrary<string> | undefined;
  resolve(schema: Schema): Schema;
}

const MIN_INT64 = -(2n ** 63n);
const MAX_INT64 = 2n ** 63n - 1n;

export const texts = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: codePoints, maxLength: 6 }).map((text) => text.replaceAll('\0', '')),
  fc.constantFrom('', 'Acer', 'mon', 'É', 'ß', ...` a"'%*\u200d\u{10ffff}`, '../..', 'null', '\r\n'),
);

/** Texts that are neither valid numbers nor valid names. */
export const oddTexts = fc.oneof(
  { weight: 1, arbitrary: texts },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...['', '0', '-0', '-1', '00', '1.0', '1e3', '0x1', '٣', 'true', 'NaN', '9'.repeat(30), '9223372036854775808'],
      ...['9007199254740993', '1001', '2147483648', '\0', 'a\0b', 'x'.repeat(3000), '__proto__'],
      ...['W/"1"', '"1", "2"', ','],
    ),
  },
);

const oddJson = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ...['null', 'true', '""', '"5"', '0', '-0', '-1', '1.5', '1e400', '1e-400', '9223372036854775808', '[]', '{}'],
      ...['[null]', '[1,"x"]', '{"toString":1}', '"\\u0000"', '"\\ud800"', '9007199254740993', '"\\ud83c\\udf35"'],
    ),
  },
  { weight: 1, arbitrary: fc.json({ maxDepth: 2 }) },
);
const oddMembers = fc.constantFrom(
  ...['"x":[1.5]', '"__proto__":{"id":1}', '"constructor":null', '"toString":1', '"":0', '"ID":1'],
);

/** Returns texts that match the schema. */
export function validTexts(schema: Schema, hints: Hints, name = ''): fc.Arbitrary<string> {
  const only = hints.only(name, schema);
  if (only) return only;
  const allowed = byType(hints.resolve(schema), hints);
  const likely = hints.likely(name, schema);
  return likely ? fc.oneof({ weight: 4, arbitrary: likely }, { weight: 1, arbitrary: allowed }) : allowed;
}

function byType(schema: Schema, hints: Hints): fc.Arbitrary<string> {
  const { type, enum: words, anyOf } = schema as { type?: string | string[]; enum?: string[]; anyOf?: Schema[] };
  if (anyOf) return fc.oneof(...anyOf.map((one) => byType(one, hints)));
  if (words) return fc.constantFrom(...words).map((word) => JSON.stringify(word));
  if (Array.isArray(type)) return fc.oneof(...type.map((one) => byType({ ...schema, type: one }, hints)));
  switch (type) {
    case 'null':
      return fc.constant('null');
    case 'boolean':
      return fc.boolean().map(String);
    case 'integer':
      return integers(schema);
    case 'string':
      return strings(schema).map((text) => JSON.stringify(text));
    case 'array':
      return fc
        .array(validTexts(schema.items as Schema, hints), { minLength: Number(schema.minItems ?? 0), maxLength: 4 })
        .map((items) => `[${items.join()}]`);
    case 'object':
      return objects(schema, hints, validTexts);
    default:
      throw new Error(`No values are defined for ${JSON.stringify(schema)}`);
  }
}

function integers({ minimum, maximum }: Schema): fc.Arbitrary<string> {
  const min = BigInt((minimum as number | undefined) ?? MIN_INT64);
  const max = BigInt((maximum as number | undefined) ?? MAX_INT64);
  const ends = [min, min + 1n, max - 1n, max, 0n, 2n ** 53n + 1n].filter((one) => one >= min && one <= max);
  return fc.oneof(fc.constantFrom(...ends), fc.bigInt({ min, max })).map(String);
}

const times = fc
  .date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true })
  .chain((time) => fc.constantFrom(time.toISOString(), time.toISOString().replace(/\.\d+Z/, '-01:00')));

/** Returns matching strings. JSON Schema counts lengths in code points. */
function strings({
  minLength = 0,
  maxLength = 8,
  pattern,
  format,
}: Partial<Record<'minLength' | 'maxLength', number> & Record<'pattern' | 'format', string>>) {
  if (format === 'date-time') return times;
  if (pattern?.includes('[^\\u')) {
    const unit = fc.constantFrom(...'aZ é\u0301🌵ß中');
    const wanted = new RegExp(pattern, 'u');
    return fc.string({ unit, minLength, maxLength, size: 'max' }).filter((text) => wanted.test(text));
  }
  return pattern ? fc.stringMatching(new RegExp(pattern, 'u')) : texts;
}

function objects(
  { properties = {}, required = [], additionalProperties }: Schema,
  hints: Hints,
  textsOf: typeof validTexts,
): fc.Arbitrary<string> {
  const members = Object.entries(properties as Record<string, Schema>).map(([name, schema]) => {
    const member = textsOf(schema, hints, name).map((text) => `${JSON.stringify(name)}:${text}`);
    return (required as string[]).includes(name) ? member : fc.option(member, { nil: '' });
  });
  const others = additionalProperties === false ? fc.constant('') : fc.option(oddMembers, { nil: '', freq: 8 });
  return fc.tuple(...members, others).map((parts) => `{${parts.filter((part) => part !== '').join()}}`);
}

/** Returns objects with missing, duplicate or unknown fields, or fields of another type. */
export function nearTexts(schema: Schema, hints: Hints): fc.Arbitrary<string> {
  const resolved = hints.resolve(schema);
  if (resolved.type !== 'object') return fc.oneof(validTexts(schema, hints), oddJson);
  const near = (one: Schema, own: Hints, name?: string) =>
    fc.oneof({ weight: 3, arbitrary: validTexts(one, own, name) }, { weight: 1, arbitrary: oddJson });
  const loose = { ...resolved, required: [], additionalProperties: undefined };
  return fc.oneof(
    { weight: 3, arbitrary: objects({ ...resolved, additionalProperties: undefined }, hints, near) },
    { weight: 1, arbitrary: objects(loose, hints, near) },
    { weight: 1, arbitrary: fc.tuple(objects(loose, hints, near), objects(loose, hints, near)).map(joinMembers) },
    { weight: 1, arbitrary: oddJson },
  );
}

function joinMembers([one, other]: [string, string]): string {
  return one === '{}' || other === '{}' ? one : `${one.slice(0, -1)},${other.slice(1)}`;
}
