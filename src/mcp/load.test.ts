import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message, post } from '../../testing/mcp.ts';
import { callerOf } from '../../testing/request.ts';
import { startServer, tellLoaded } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

test('the MCP SDK is not loaded before the first MCP message', async () => {
  const server = await startServer({ env: tellLoaded('@modelcontextprotocol') });
  assert.equal((await callerOf(server, server.secret)('POST', '/plants', { id: 1, name: 'x' })).status, 200);
  assert.doesNotMatch(server.output(), /LOADED/);
  assert.deepEqual(JSON.parse((await post(server, message('ping'))).body), { jsonrpc: '2.0', id: 1, result: {} });
  await until(() => server.output().includes('LOADED'));
  await server.stop();
});
