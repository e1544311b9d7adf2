// Calls MCP tools as an assistant's host does, through the SDK's client.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Answer, send } from './request.ts';

/** Protocol version that each mode of the client negotiates. */
export const ERAS = { legacy: '2025-11-25', auto: '2026-07-28' } as const;

const clients: Client[] = [];
after(() => Promise.all(clients.map((client) => client.close())));

export async function connect(
  { url }: { url: string },
  secret: string,
  mode: keyof typeof ERAS = 'legacy',
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  const headers = { authorization: `Bearer ${secret}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }));
  clients.push(client);
  return client;
}

export interface Outcome {
  texts: string[];
  structured: Record<string, unknown>;
  isError: boolean;
}

export async function call(client: Client, name: string, given: Record<string, unknown> = {}): Promise<Outcome> {
  const { content, structuredContent, isError } = (await client.callTool({ name, arguments: given })) as CallToolResult;
  const texts = content.map((block) => (block.type === 'text' ? block.text : assert.fail(block.type)));
  return { texts, structured: structuredContent as Record<string, unknown>, isError: isError === true };
}

/** Returns the error of a tool result: number and message. */
export async function refusal(client: Client, name: string, given: Record<string, unknown>): Promise<[number, string]> {
  const { texts, structured, isError } = await call(client, name, given);
  assert.deepEqual([isError, structured, texts.length], [true, undefined, 1], `${texts}`);
  const { error, message } = JSON.parse(texts[0] ?? '');
  return [error, message];
}

export function post(
  { port, secret }: { port: number; secret: string },
  body: string,
  headers: Record<string, string | string[]> = {},
): Promise<Answer> {
  const own = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
  return send(port, { method: 'POST', path: '/mcp', headers: { ...own, ...headers }, body });
}

export function message(method: string, params: object = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
}
