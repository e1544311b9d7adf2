// Serves the built files of the console at / and of the docs at /docs. Each file is read once. The pages load nothing
// from other origins, and their content security policy allows nothing else.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { PlantStoreError } from '../../domain/errors.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import { type Route, route } from '../core/route.ts';

/** The path of the built files, which is the same from src and from the build output. */
const FOLDER = fileURLToPath(new URL('../../../dist/console/', import.meta.url));

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.csv': 'text/csv; charset=utf-8',
};

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
const CONSOLE_POLICY = [
  ...POLICY,
  "style-src 'self'",
  "img-src 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];
/** Policy of the docs, which allows inline styles because Scalar uses them. */
const DOCS_POLICY = [...POLICY, "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "font-src 'self' data:"];

const FOREVER = 'public, max-age=31536000, immutable';
const ASSET_NAME = /^[\w-]+\.(js|css|svg|csv)$/;

type Exchange = { request: HttpRequest; reply: HttpReply };

interface File {
  bytes: Buffer;
  etag: string;
}

export function consolePageRoutes(basePath: string): Route[] {
  const files = new Map<string, Promise<File>>();

  const pages = [
    pageRoute('GET /', 'getConsole', 'Open the console', 'index.html', CONSOLE_POLICY),
    pageRoute('GET /docs', 'getDocs', 'Open the interactive API reference', 'docs.html', DOCS_POLICY),
    route('GET /assets/:name', 'getAsset', 'open', {
      summary: 'Get a file of a page',
      response: { description: 'The file', streams: ['text/javascript', 'text/css', 'image/svg+xml', 'text/csv'] },
      handle({ request, reply }) {
        const { name = '' } = request.params;
        if (!ASSET_NAME.test(name) || !existsSync(`${FOLDER}assets/${name}.gz`)) {
          throw new PlantStoreError('no_such_path', 'This file does not exist. Reload the page.');
        }
        reply.header('cache-control', FOREVER); // the name changes with the content
        return sendFile({ request, reply }, `assets/${name}`);
      },
    }),
  ];
  return basePath === '' ? pages : [...pages, slashRoute(basePath)];

  function pageRoute(
    path: `GET ${string}`,
    operationId: string,
    summary: string,
    file: string,
    policy: string[],
  ): Route {
    const response = { description: 'The page', streams: ['text/html'] };
    return route(path, operationId, 'open', { summary, response, handle: (call) => sendPage(call, file, policy) });
  }

  async function sendPage(exchange: Exchange, name: string, policy: string[]): Promise<unknown> {
    if (!existsSync(`${FOLDER}${name}.gz`)) {
      throw new PlantStoreError('no_such_path', 'The pages are not built yet. Run "npm run build".');
    }
    exchange.reply
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policy.join('; '))
      .header('cross-origin-opener-policy', 'same-origin')
      .header('referrer-policy', 'no-referrer');
    return sendFile(exchange, name);
  }

  async function sendFile({ request, reply }: Exchange, name: string): Promise<unknown> {
    const isGzip = acceptsGzip(request);
    const { bytes, etag } = await open(name, isGzip);
    reply.type(TYPES[extname(name)] ?? 'application/octet-stream').header('etag', etag);
    reply.vary('accept-encoding');
    if (isCached(request, etag)) {
      reply.code(304);
      return undefined;
    }
    if (isGzip) reply.header('content-encoding', 'gzip');
    return bytes;
  }

  function open(name: string, isGzip: boolean): Promise<File> {
    const key = isGzip ? `${name}.gz` : name;
    const known = files.get(key) ?? read(name, isGzip);
    files.set(key, known);
    known.catch(() => files.delete(key));
    return known;
  }
}

/** Reads a file. Files are stored compressed, because nearly every client accepts gzip. */
async function read(name: string, isGzip: boolean): Promise<File> {
  const compressed = await readFile(`${FOLDER}${name}.gz`);
  const bytes = isGzip ? compressed : gunzipSync(compressed);
  return { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
}

/** Redirects to the URL with a final slash, because the page uses relative URLs. */
function slashRoute(basePath: string): Route {
  return route('GET ', 'redirectToConsole', 'open', {
    summary: 'Redirect to the console',
    response: { description: 'Redirects to the console' },
    handle({ reply }) {
      reply.code(308).header('location', `${basePath}/`);
    },
  });
}

function acceptsGzip({ headers }: HttpRequest): boolean {
  const codings = String(headers['accept-encoding'] ?? '').split(',');
  return codings.some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((part) => part.trim().toLowerCase());
    return name === 'gzip' && !parameters.some((part) => /^q=0(\.0*)?$/.test(part));
  });
}

/** True if the client has the current file. Compares weak ETags as well, because a compressing proxy weakens them. */
function isCached({ headers: { 'if-none-match': known = '' } }: HttpRequest, etag: string): boolean {
  return known.split(',').some((one) => ['*', etag].includes(one.trim().replace(/^W\//, '')));
}
