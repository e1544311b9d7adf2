// Constraints on valid requests that the schemas cannot express, and values that make requests refer to the same
// objects.

import fc from 'fast-check';
import type { Description } from '../../testing/description.ts';
import type { Hints, Schema } from './schema-texts.ts';

const json = (...values: unknown[]) => fc.constantFrom(...values.map((value) => JSON.stringify(value)));
const DURATIONS = ['30s', '24h', '4w', '999999999s']; // at most 100 years
const ETAGS = json('*', '"1"', '"2"', '"7"', 'W/"3"', '"1", "5", "9"', '"x"');

/** Returns the hints. Names of query parameters have a question mark in front. All webhooks point to the receiver. */
export function createHints({ components }: Description, receiverUrl: string): Hints {
  const only: Record<string, fc.Arbitrary<string>> = {
    expires: json('90d', '100w', '2099-12-31T23:59:59Z', '2099-01-01T00:00:00.5+02:00'), // in the future
    '?grace': json('0', ...DURATIONS),
    olderThan: json(...DURATIONS),
    url: json(
      ...['gone', 'gone', 'gone?x=1', 'gone/é', 'gone', 'gone', 'fails', 'takes'].map((path) => receiverUrl + path),
    ),
    from: fc.integer({ min: 1, max: 3 }).map(String), // an existing change
    to: fc.oneof(fc.integer({ min: 3, max: 99 }), fc.constant(Number.MAX_SAFE_INTEGER)).map(String), // not before "from"
  };
  const likely: Record<string, fc.Arbitrary<string>> = {
    id: fc.integer({ min: -2, max: 25 }).map(String),
    tag: json('a', 'b', '', 'ü'),
    '?tag': json('a', 'b', '', 'ü', '\0'),
    '?q': json('a', 'Mon del', 'acer', '', 'É', '\0'),
    'If-Match': ETAGS,
    'If-None-Match': ETAGS,
    '?limit': json(1, 2, 1000),
    '?after': fc.nat(60).map(String),
    '?before': fc.nat(60).map(String),
    seq: fc.integer({ min: 1, max: 60 }).map(String),
  };
  const own = (hints: Record<string, fc.Arbitrary<string>>, name: string) =>
    Object.hasOwn(hints, name) ? hints[name] : undefined;

  return {
    only: (name) => own(only, name),
    likely(name, { pattern }) {
      const kind = /^\^(tok|whk)_/.exec(String(pattern))?.[1];
      return kind ? fc.nat(40).map((at) => `"${kind}_@${at}"`) : own(likely, name);
    },
    resolve(schema) {
      const name = /^#\/components\/schemas\/(\w+)$/.exec(String(schema.$ref))?.[1];
      return name ? (components.schemas[name] as Schema) : schema;
    },
  };
}
