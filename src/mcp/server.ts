// One message of an assistant's host → its answer, by the SDK of the protocol. Each message has a server of its own.

import {
  type CallToolResult,
  createMcpHandler,
  isLegacyRequest,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type Tool as ToolDescription,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ERROR_NUMBERS, PlantStoreError } from '../domain/errors.ts';
import type { Scope } from '../domain/names.ts';
import type { PlantStore } from '../domain/plant.ts';
import { requireScopes, type Token } from '../domain/token.ts';
import { validate } from '../domain/validate.ts';
import { printJson } from '../lib/exact-json.ts';
import { TOOLS, type Tool } from './tools.ts';

const INSTRUCTIONS =
  'A store of plant records: an id of 64 bits, a name, an optional tag. Ids beyond 9007199254740991 are exact only as strings of digits. ' +
  'Before changing or deleting a plant that somebody else may change, read it and pass its "version".';

/** Those that the protocol puts there; the rest of a request is none of its business. */
const HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** What a host may go by when it decides if it asks its user first. */
const HINTS: Record<Tool['effect'], ToolDescription['annotations']> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  overwrites: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

const DESCRIPTIONS = new Map(TOOLS.map((tool) => [tool, describe(tool)]));

export interface Exchange {
  token: Token;
  headers: Record<string, string | string[] | undefined>;
}

/** What it gives answers a message as json.ts reads it, and rejects where the fault is ours. */
export function createMcp(store: PlantStore, version: string) {
  return async (message: object, { token, headers }: Exchange) => {
    let lacked: Scope | undefined;
    let bug: { error: unknown } | undefined;
    const request = toRequest(headers);
    const response = (await isLegacyRequest(request, message))
      ? await answerOnce(createServer(), request, message)
      : await createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, {
          parsedBody: message,
        });
    const text = await response.text();
    if (bug) throw bug.error;
    if (response.status >= 500) throw new Error(`The SDK answered with ${response.status}: ${text}`);
    return { status: response.status, text, lacked };

    function createServer(): Server {
      const info = { name: 'plant-store', title: 'Plant Store', version };
      const server = new Server(info, { capabilities: { tools: {} }, instructions: INSTRUCTIONS });
      server.setRequestHandler('tools/list', () => ({ tools: describeTools(token) }));
      server.setRequestHandler('tools/call', ({ params }) => callTool(params.name, params.arguments ?? {}));
      return server;
    }

    async function callTool(name: string, given: unknown): Promise<CallToolResult> {
      const tool = TOOLS.find((known) => known.name === name);
      if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'No such tool: see tools/list');
      try {
        if (!mayCall(token, tool)) lacked = tool.scope;
        requireScopes(token, tool.scope);
        const taken = validate(tool.takes, given, 'The call');
        const { texts, structured } = await tool.call(taken, { store, tokenId: token.id });
        return { content: texts.map(toContent), structuredContent: structured as Record<string, unknown> };
      } catch (error) {
        if (error instanceof PlantStoreError) return toFailure(error);
        bug = { error };
        throw error; // what the SDK makes of it is not sent: its text may be any
      }
    }
  };
}

/** For hosts of 2025: the SDK's own way for them answers with a stream of one event. */
async function answerOnce(server: Server, request: Request, message: object): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

/** The body is read already, and whatever a client says it accepts, it gets JSON. */
function toRequest(headers: Exchange['headers']): Request {
  const own = HEADERS.flatMap((name) => (typeof headers[name] === 'string' ? [[name, headers[name]]] : []));
  return new Request('http://mcp.invalid/', {
    method: 'POST',
    headers: {
      ...Object.fromEntries(own),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
  });
}

function toContent(value: object): { type: 'text'; text: string } {
  return { type: 'text', text: printJson(value) };
}

/** Our Error, as HTTP has it: for the assistant to read and do better, not for its host to give up on. */
function toFailure({ code, message }: PlantStoreError): CallToolResult {
  return { isError: true, content: [toContent({ error: ERROR_NUMBERS[code], message })] };
}

/** Returns the tools that a token may call, as a host sees them. */
function describeTools(token: Token): ToolDescription[] {
  return [...DESCRIPTIONS].filter(([tool]) => mayCall(token, tool)).map(([, description]) => description);
}

function mayCall({ scopes }: Token, { scope }: Tool): boolean {
  return scopes.includes(scope);
}

function describe({ name, title, description, effect, takes, gives }: Tool): ToolDescription {
  return {
    name,
    title,
    description,
    inputSchema: toJsonSchema(takes) as ToolDescription['inputSchema'],
    outputSchema: toJsonSchema(gives),
    annotations: { title, ...HINTS[effect] },
  };
}

/** Of what it gives, too, as one reads it: members may be added later. */
function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}
