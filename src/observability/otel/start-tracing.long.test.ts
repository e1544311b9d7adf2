// Tests a real process whose collector does not respond. traces.long.test.ts has the other tests.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startCollector } from '../../../testing/collector.ts';
import { callerOf } from '../../../testing/request.ts';
import { startServer } from '../../../testing/server.ts';

test('The process exits with status 0 although the collector hangs', async () => {
  const collector = await startCollector();
  collector.hang();
  const server = await startServer({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '60000', // so that the process sends no spans before it stops
    },
  });
  assert.equal((await callerOf(server, server.secret)('GET', '/plants')).status, 200);
  assert.equal(await server.stop(), 0, 'the process was not killed after a timeout');
  assert.equal(collector.spans.length, 2);
});
