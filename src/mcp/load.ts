// Loads what answers messages of assistants, with the first of them: it takes a quarter of a second, in parts. Each has a
// turn of the event loop of its own, so that other requests wait for one part at most.

import type { PlantStore } from '../domain/plant.ts';
import { nextEventLoopTurn } from '../lib/event-loop-turns.ts';

export async function loadMcp(store: PlantStore, version: string) {
  await nextEventLoopTurn();
  new Request('http://mcp.invalid/'); // loads Node's fetch
  await nextEventLoopTurn();
  await import('@modelcontextprotocol/core');
  await nextEventLoopTurn();
  await import('@modelcontextprotocol/server/validators/ajv');
  await nextEventLoopTurn();
  await import('./tools.ts');
  await nextEventLoopTurn();
  const { preloadSchemas } = await import('@modelcontextprotocol/server');
  await nextEventLoopTurn();
  preloadSchemas();
  await nextEventLoopTurn();
  const { createMcp } = await import('./server.ts');
  return createMcp(store, version);
}
