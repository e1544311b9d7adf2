// Finds the route of a request. For a request without a route, finds the error to return.

import { PlantStoreError } from '../../domain/errors.ts';
import type { Route } from './route.ts';

export interface Found {
  route: Route;
  /** Path parameters by name. */
  params: Record<string, string>;
}

export type Router = ReturnType<typeof createRouter>;

interface Known {
  route: Route;
  segments: string[];
  isExact: boolean;
}

const NO_PARAMS = {};

export function createRouter(routes: Route[], basePath: string) {
  const known = routes.map((route): Known => {
    const path = basePath + route.path;
    return { route, segments: segmentsOf(path), isExact: !path.includes(':') };
  });
  const byDepth = Map.groupBy(known, ({ segments }) => segments.length);
  const rootDepth = segmentsOf(basePath).length;
  const withToken = known.filter(({ route }) => route.access !== 'open');
  /** Routes without path parameters, by method and exact URL: the most common requests. */
  const plain = new Map<string, Found>();
  for (const { route, isExact } of known) {
    if (isExact) plain.set(`${route.method} ${basePath}${route.path}`, { route, params: NO_PARAMS });
  }

  return {
    /** Returns the route of a request. An exact path takes precedence over a path with parameters, for every method. */
    find(method: string, url: string): Found | undefined {
      const served = method === 'HEAD' ? 'GET' : method;
      const exact = plain.get(`${served} ${url}`);
      if (exact) return exact;
      const segments = segmentsOf(url);
      const found = allAt(segments).find(({ route }) => route.method === served);
      return found && { route: found.route, params: paramsOf(found.segments, segments) };
    },
    /** True if the URL is below a path, such as /plants, where some route requires a token. */
    needsToken(url: string): boolean {
      const segments = segmentsOf(url).slice(0, rootDepth + 1);
      return withToken.some((route) => isMatch(route.segments.slice(0, rootDepth + 1), segments));
    },
    /** Returns the error for a request without a route. */
    whyNone(url: string): PlantStoreError {
      const segments = segmentsOf(url);
      const methods = allAt(segments).map(({ route }) => route.method);
      if (methods.length > 0) {
        const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
        return new PlantStoreError('no_such_method', `This path supports only ${allow}`, { detail: { allow } });
      }
      if (!pathOf(url).split('/').every(isReadable)) {
        return new PlantStoreError('bad_parameter', 'The path is malformed. Check its percent-encoding.');
      }
      const hasExtraSlash = segments.at(-1) === '' && allAt(segments.slice(0, -1)).length > 0;
      const advice = hasExtraSlash ? 'Remove the slash at the end.' : `See ${basePath}/openapi.json for all paths.`;
      return new PlantStoreError('no_such_path', `This path does not exist. ${advice}`);
    },
  };

  function allAt(segments: string[]): Known[] {
    const matching = (byDepth.get(segments.length) ?? []).filter((route) => isMatch(route.segments, segments));
    const exact = matching.filter(({ isExact }) => isExact);
    return exact.length > 0 ? exact : matching;
  }
}

function isMatch(pattern: string[], segments: string[]): boolean {
  return pattern.every((part, at) => part === segments[at] || (part.startsWith(':') && segments[at]));
}

function paramsOf(pattern: string[], segments: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) if (part.startsWith(':')) params[part.slice(1)] = segments[at] ?? '';
  return params;
}

/** Returns the path of a URL, which can be a path, a path with a query, or a whole URL as sent by a proxy. */
export function pathOf(url: string): string {
  const path = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

function segmentsOf(url: string): string[] {
  const [, ...segments] = pathOf(url).split('/');
  return url.includes('%') ? segments.map(decode) : segments;
}

function isReadable(segment: string): boolean {
  return decode(segment) !== segment || !segment.includes('%');
}

/** Decodes percent-encoding. Returns malformed text unchanged. */
export function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
