// The request and the reply that handlers use.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Token } from '../../domain/token.ts';
import { toQuery } from '../../lib/query.ts';
import type { BufferedRequest } from './buffered-request.ts';

export class HttpRequest {
  readonly raw: BufferedRequest;
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly startedMs = performance.now();
  /** Path parameters by their names in the route. */
  readonly params: Record<string, string>;
  /** The credential, once the request is admitted. */
  token: Token | undefined;
  /** True if the server has sent 100 Continue. */
  isContinued = false;
  /**
   * The client's address, if the access log needs it. It is read early, because it is lost when the client disconnects.
   */
  address: string | undefined;

  constructor(raw: BufferedRequest, id: string, params: Record<string, string>) {
    this.raw = raw;
    this.id = id;
    this.method = raw.method ?? '';
    this.url = raw.url ?? '';
    this.headers = raw.headers;
    this.params = params;
  }

  ageMs(): number {
    return performance.now() - this.startedMs;
  }
}

export class HttpReply {
  readonly raw: ServerResponse;
  /**
   * Headers by lower-case name. By default, caches must not store the response and browsers must not guess its type.
   */
  readonly headers: Record<string, string> = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };
  status = 200;

  constructor(raw: ServerResponse) {
    this.raw = raw;
  }

  code(status: number): this {
    this.status = status;
    return this;
  }

  header(name: string, value: string): this {
    this.headers[name] = value;
    return this;
  }

  type(contentType: string): this {
    return this.header('content-type', contentType);
  }

  /** Adds a name to the header `Vary`. */
  vary(name: string): this {
    const { vary: others } = this.headers;
    return this.header('vary', others === undefined ? name : `${others}, ${name}`);
  }

  /** Sets the header `Link` to the next page (RFC 8288). Omits undefined parameters. */
  nextPage(path: string, parameters: Parameters<typeof toQuery>[0]): this {
    return this.header('link', `<${path}${toQuery(parameters)}>; rel="next"`);
  }

  /** Replaces the status and adds headers. Keeps headers about the request, but not the content type. */
  restart(status: number, headers: Record<string, string>): this {
    delete this.headers['content-type'];
    Object.assign(this.headers, headers);
    return this.code(status);
  }
}
