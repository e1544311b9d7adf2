// Handles one MCP message from an assistant's host with the SDK. Each message gets its own server instance.

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
import { requireScopes, type Token } from '../domain/token.ts';
import { validate } from '../domain/validate.ts';
import { printJson } from '../lib/exact-json.ts';
import type { Requester } from '../lib/semaphore.ts';
import { TOOLS, type Tool, type ToolSources } from './tools.ts';

const INSTRUCTIONS =
  'Plant Store keeps plant records. Each record has an id (a 64-bit integer), a name and an optional tag. ' +
  'Use search_plants to find plants by name. Use list_plants to read, sort or count all plants, or plants with given tags. ' +
  'Pass ids beyond ±9007199254740991 as strings of digits, because a JSON number may be rounded. ' +
  'Before you change or delete a plant that others may change, call get_plant and pass its "version". ' +
  'A failed call returns JSON with the error number in "error" and the reason in "message".';

/** Headers that MCP defines. The SDK receives no other headers of the request. */
const HEADERS = ['mcp-protocol-version', 'mcp-method', 'mcp-name'];

/** Hints that help a host to decide whether to ask its user before a call. */
const HINTS: Record<Tool['effect'], ToolDescription['annotations']> = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  overwrites: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
};

const DESCRIPTIONS = new Map(TOOLS.map((tool) => [tool, describe(tool)]));

export interface Exchange {
  token: Token;
  headers: Record<string, string | string[] | undefined>;
  requester: Requester;
}

/** Returns a function that handles a message parsed by exact-json.ts. The function rejects if the service has a bug. */
export function createMcp(sources: ToolSources, version: string) {
  return async (message: object, { token, headers, requester }: Exchange) => {
    let lacked: Scope | undefined;
    let bug: { error: unknown } | undefined;
    const request = toRequest(headers);
    const response = (await isLegacyRequest(request, message))
      ? await handleLegacy(createServer(), request, message)
      : await createMcpHandler(createServer, { legacy: 'reject', maxSubscriptions: 0 }).fetch(request, {
          parsedBody: message,
        });
    const text = await response.text();
    if (bug) throw bug.error;
    if (response.status >= 500) throw new Error(`The MCP SDK returned status ${response.status}: ${text}`);
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
      if (!tool)
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'No such tool. Call tools/list to get the available tools.',
        );
      try {
        if (!mayCall(token, tool)) lacked = tool.scope;
        requireScopes(token, tool.scope);
        const taken = validate(tool.takes, given, 'The call');
        const { texts, structured } = await tool.call(taken, { ...sources, tokenId: token.id, requester });
        return { content: texts.map(toContent), structuredContent: structured as Record<string, unknown> };
      } catch (error) {
        if (error instanceof PlantStoreError) return toFailure(error);
        bug = { error };
        throw error; // the response that the SDK builds from it is discarded, because it may contain any text
      }
    }
  };
}

/** Handles a message of a 2025 host. The SDK's own handler for such hosts would return a stream with one event. */
async function handleLegacy(server: Server, request: Request, message: object): Promise<Response> {
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody: message });
  } finally {
    await server.close();
  }
}

/** Returns a request for the SDK. It has no body, which was already read, and always accepts JSON, like the service. */
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

/** Returns the same Error as over HTTP, as a tool result: the assistant can read it and correct its call. */
function toFailure({ code, message }: PlantStoreError): CallToolResult {
  return { isError: true, content: [toContent({ error: ERROR_NUMBERS[code], message })] };
}

/** Returns the descriptions of the tools that a token may call. */
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

/** Returns the schema of input. Results use it as well, so that hosts accept fields that are added later. */
function toJsonSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema, ...described } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return described;
}
