import assert from 'node:assert/strict';
import { test } from 'node:test';
import { message, post } from '../../testing/mcp.ts';
import { callerOf } from '../../testing/request.ts';
import { startServer, tellLoaded } from '../../testing/server.ts';
import { until } from '../../testing/until.ts';

test('whoever does not speak MCP does not pay for it: the SDK is loaded when somebody does', async () => {
  const server = await startServer({ env: tellLoaded('@modelcontextprotocol') });
  assert.equal((await callerOf(server, server.secret)('POST', '/plants', { id: 1, name: 'x' })).status, 200);
  assert.doesNotMatch(server.output(), /LOADED/);
  assert.deepEqual(JSON.parse((await post(server, message('ping'))).body), { jsonrpc: '2.0', id: 1, result: {} });
  await until(() => server.output().includes('LOADED'));
  await server.stop();
});
