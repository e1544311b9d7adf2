// Traces of a real process whose collector does not respond. All else: start-tracing.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCollector } from '../../../testing/collector.ts';
import { callerOf } from '../../../testing/request.ts';
import { startServer } from '../../../testing/server.ts';

test('a collector that hangs does not keep the process from ending with status 0', async () => {
  const collector = await startCollector();
  collector.hang();
  const server = await startServer({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '60000', // nothing is sent before it stops
    },
  });
  assert.equal((await callerOf(server, server.secret)('GET', '/plants')).status, 200);
  assert.equal(await server.stop(), 0, 'not killed because it took too long');
  assert.equal(collector.spans.length, 2);
});
