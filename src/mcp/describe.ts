// Tools as a host sees them: those that its token may call, with JSON schemas of what they take and give.

import type { Tool as Description } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Token } from '../domain/token.ts';
import type { Tool } from './tool.ts';
import { TOOLS } from './tools.ts';

/** What a host may go by when it decides if it asks its user first. */
const HINTS: Record<Tool['effect'], Description['annotations']> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  overwrites: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

const DESCRIPTIONS = new Map(TOOLS.map((tool) => [tool, describe(tool)]));

export function describeTools(token: Token): Description[] {
  return [...DESCRIPTIONS].filter(([tool]) => mayCall(token, tool)).map(([, description]) => description);
}

export function mayCall({ scopes }: Token, { scope }: Tool): boolean {
  return scopes.includes(scope);
}

function describe({ name, title, description, effect, takes, gives }: Tool): Description {
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(takes) as Description['inputSchema'],
    outputSchema: toJsonSchema(gives),
    annotations: { title, ...HINTS[effect] },
  };
}

/** Of what it gives, too, as one reads it: members may be added later. */
function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}
