// Describes bodies by the schemas that validate them, with examples that come from the examples of their properties.

import { z } from 'zod';

type JsonSchema = Record<string, unknown>;

const CSV_EXAMPLE = 'id,name,tag\n7,Monstera deliciosa,tropical\n8,Abies balsamea,\n';
/** Examples of bodies that are not JSON, by media type. */
const STREAM_EXAMPLES: Record<string, string> = {
  'application/x-ndjson': '{"id":7,"name":"Monstera deliciosa","tag":"tropical"}\n{"id":8,"name":"Abies balsamea"}\n',
  'text/csv': CSV_EXAMPLE,
  'text/plain': CSV_EXAMPLE,
  'text/event-stream':
    'id: 1042\nevent: plant.created\n' +
    'data: {"seq":1042,"type":"plant.created","time":"2026-11-17T09:30:00.000Z","plant":{"id":7,"name":"Monstera deliciosa"},"token":"tok_I46W9MwWENQq"}\n\n',
};

/** The named schemas of a description, and the content of bodies that refer to them. */
export class DescribedSchemas {
  readonly byName: Record<string, JsonSchema>;

  constructor(used: (z.ZodType | undefined)[]) {
    const schemas = z.registry<{ id: string }>();
    for (const schema of used) if (schema) schemas.add(elementOf(schema), { id: idOf(elementOf(schema)) });
    const { schemas: described } = z.toJSONSchema(schemas, {
      io: 'input',
      unrepresentable: 'any',
      uri: (id) => `#/components/schemas/${id}`,
    });
    this.byName = Object.fromEntries(
      Object.entries(described).map(([id, { $schema, $id, ...schema }]) => [id, schema as JsonSchema]),
    );
  }

  /** Returns the content of a JSON body for each media type. */
  json(types: string[], schema: z.ZodType): Record<string, unknown> {
    const described = referenceTo(schema);
    return Object.fromEntries(types.map((type) => [type, { schema: described, example: this.exampleOf(described) }]));
  }

  /** Returns the example of a schema, or an example with all properties. Undefined if it has neither. */
  exampleOf(schema: JsonSchema): unknown {
    const { $ref, examples, default: preset, type, properties, items } = schema;
    if (Array.isArray(examples)) return examples[0];
    if (typeof $ref === 'string') return this.exampleOf(this.byName[$ref.split('/').at(-1) ?? ''] ?? {});
    if (preset !== undefined) return preset;
    if (type === 'array') return [this.exampleOf(items as JsonSchema)];
    if (type !== 'object') return undefined;
    const entries = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
    return Object.fromEntries(entries.map(([name, property]) => [name, this.exampleOf(property)]));
  }
}

/** Returns the content of a body that is a stream of text, for each media type. */
export function textContent(types: string[], example?: string): Record<string, unknown> {
  return Object.fromEntries(
    types.map((type) => [type, { schema: { type: 'string' }, example: example ?? STREAM_EXAMPLES[type] }]),
  );
}

export function referenceTo(schema: z.ZodType): JsonSchema {
  const reference = { $ref: `#/components/schemas/${idOf(elementOf(schema))}` };
  return schema instanceof z.ZodArray ? { type: 'array', items: reference } : reference;
}

function elementOf(schema: z.ZodType): z.ZodType {
  return schema instanceof z.ZodArray ? (schema.element as z.ZodType) : schema;
}

function idOf(schema: z.ZodType): string {
  const id = schema.meta()?.id;
  if (!id) throw new Error('A schema of the API needs a name: .meta({ id })');
  return id;
}
