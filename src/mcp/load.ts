// Loads what answers messages of assistants, with the first of them: it takes a quarter of a second, in parts. Each has a
// turn of the event loop of its own, so that other requests wait for one part at most.

import type { PlantStore } from '../domain/plant.ts';
import { ownTurn } from '../lib/event-loop-turns.ts';

export async function loadMcp(store: PlantStore, version: string) {
  await ownTurn();
  new Request('http://mcp.invalid/'); // loads Node's fetch
  await ownTurn();
  await import('@modelcontextprotocol/core');
  await ownTurn();
  await import('@modelcontextprotocol/server/validators/ajv');
  await ownTurn();
  await import('./tools.ts');
  await ownTurn();
  const { preloadSchemas } = await import('@modelcontextprotocol/server');
  await ownTurn();
  preloadSchemas();
  await ownTurn();
  const { createMcp } = await import('./server.ts');
  return createMcp(store, version);
}
