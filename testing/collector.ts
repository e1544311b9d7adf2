// A trace collector on loopback. It accepts OTLP as JSON and returns the spans as plain objects.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEndOfFile } from './clean-up.ts';

export interface Span {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  /** 2 means server, 3 means client. */
  kind: number;
  startMs: number;
  endMs: number;
  /** 2 means error. */
  status: number;
  attributes: Record<string, string | number>;
  links: { traceId: string; spanId: string }[];
  /** Attributes of the service. */
  resource: Record<string, string | number>;
}

export interface Collector {
  url: string;
  port: number;
  spans: Span[];
  /** Every received body, unchanged. */
  bodies: Buffer[];
  types: (string | undefined)[];
  /** Stops responding to requests. */
  hang(): void;
}

export async function startCollector(port = 0): Promise<Collector> {
  const spans: Span[] = [];
  const bodies: Buffer[] = [];
  const types: Collector['types'] = [];
  let respond = (response: ServerResponse) => void response.end('{}');
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const body = Buffer.concat(chunks);
    bodies.push(body);
    types.push(request.headers['content-type']);
    if (request.headers['content-type'] === 'application/json') spans.push(...readSpans(JSON.parse(String(body))));
    respond(response);
  });
  server.listen(port, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  atEndOfFile(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    port: own,
    spans,
    bodies,
    types,
    hang() {
      respond = () => {};
    },
  };
}

interface Sent {
  resourceSpans: { resource: { attributes: SentAttribute[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}
type SentAttribute = { key: string; value: { stringValue?: string; intValue?: string | number } };
interface SentSpan extends Pick<Span, 'name' | 'traceId' | 'spanId' | 'parentSpanId' | 'kind' | 'links'> {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: SentAttribute[];
  status: { code: number };
}

function readSpans({ resourceSpans }: Sent): Span[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, status, links = [], ...span }) => ({
        ...span,
        parentSpanId: span.parentSpanId,
        links,
        startMs: Number(startTimeUnixNano) / 1e6,
        endMs: Number(endTimeUnixNano) / 1e6,
        status: status.code,
        attributes: toRecord(attributes),
        resource: toRecord(resource.attributes),
      })),
    ),
  );
}

function toRecord(attributes: SentAttribute[]): Record<string, string | number> {
  const entries = attributes.map(({ key, value: { stringValue, intValue } }) => [key, stringValue ?? Number(intValue)]);
  return Object.fromEntries(entries);
}
