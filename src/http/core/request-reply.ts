// A request and its answer, as all who take part in it see them.

import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Token } from '../../domain/token.ts';
import type { Incoming } from './buffered-request.ts';
import { requestIdOf } from './header-checks.ts';
import type { Route } from './route.ts';
import type { Paths } from './router.ts';

export class Request {
  readonly raw: Incoming;
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly begunMs = performance.now();
  /** Not there where none takes it. */
  readonly route: Route | undefined;
  /** Parts of the path, by their names. */
  readonly params: Record<string, string>;
  /** There when it was let in. */
  token: Token | undefined;
  /** It was told to go on with its body. */
  isContinued = false;
  /** The client's, where the log shall have it: when the client is gone it cannot be told any more. */
  address: string | undefined;

  constructor(raw: Incoming, paths: Paths) {
    const { headers, method = '', url = '' } = raw;
    this.raw = raw;
    this.headers = headers;
    this.method = method;
    this.url = url;
    this.id = requestIdOf(headers);
    const found = paths.find(method, url);
    this.route = found?.route;
    this.params = found?.params ?? {};
  }

  ageMs(): number {
    return performance.now() - this.begunMs;
  }
}

export class Reply {
  readonly raw: ServerResponse;
  /** By names in lower case. Nothing is kept by others, nor taken for what it is not, unless the route says so. */
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

  /** As another answer: what was said of the request stays, what was said of a body does not. */
  restart(status: number, headers: Record<string, string>): this {
    delete this.headers['content-type'];
    Object.assign(this.headers, headers);
    return this.code(status);
  }

  type(contentType: string): this {
    return this.header('content-type', contentType);
  }
}
