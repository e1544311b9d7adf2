// Loads the MCP server in parts, one per turn of the event loop, so that other requests wait for at most one part.

import { nextEventLoopTurn } from '../lib/event-loop-turns.ts';
import type { ToolSources } from './tools.ts';

const PARTS = [
  () => new Request('http://mcp.invalid/'), // loads Node's fetch
  () => import('@modelcontextprotocol/core'),
  () => import('@modelcontextprotocol/server/validators/ajv'),
  () => import('./tools.ts'),
  () => import('@modelcontextprotocol/server'),
  async () => (await import('@modelcontextprotocol/server')).preloadSchemas(),
];

export async function loadMcp(sources: ToolSources, version: string) {
  for (const load of PARTS) {
    await nextEventLoopTurn();
    await load();
  }
  await nextEventLoopTurn();
  const { createMcp } = await import('./server.ts');
  return createMcp(sources, version);
}
