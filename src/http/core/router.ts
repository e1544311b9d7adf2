// Finds the route of a request. For a request without a route, finds the error to return.

import { PlantStoreError } from '../../domain/errors.ts';
import type { Route } from './route.ts';

export interface Found {
  route: Route;
  /** Path parameters by name. */
  params: Record<string, string>;
}

export type Router = ReturnType<typeof createRouter>;

/** A path with its routes by method. */
interface RoutedPath {
  path: string;
  segments: Segment[];
  routes: Map<string, Route>;
}

/** A fixed text, or a parameter of the path. */
type Segment = { text: string } | { parameter: string };

export function createRouter(routes: Route[], basePath: string) {
  const paths = [...Map.groupBy(routes, ({ path }) => basePath + path)].map(([path, same]): RoutedPath => {
    const routes = new Map<string, Route>(same.map((route) => [route.method, route]));
    return { path, segments: segmentsOf(path).map(toSegment), routes };
  });
  const byUrl = new Map(paths.filter(isFixed).map((path) => [path.path, path]));
  const fixedFirst = paths.toSorted((one, other) => Number(isFixed(other)) - Number(isFixed(one)));
  const byDepth = Map.groupBy(fixedFirst, ({ segments }) => segments.length);
  const rootDepth = segmentsOf(basePath).length;
  const rootsWithToken = routes
    .filter(({ access }) => access !== 'open')
    .map(({ path }) => segmentsOf(basePath + path).slice(0, rootDepth + 1));

  return {
    /** Returns the route of a request. An exact path takes precedence over a path with parameters, for every method. */
    find(method: string, url: string): Found | undefined {
      const exact = byUrl.get(url);
      const values = exact ? [] : segmentsOf(url);
      const path = exact ?? findPath(values);
      const route = path?.routes.get(method === 'HEAD' ? 'GET' : method);
      return path && route && { route, params: paramsOf(path, values) };
    },
    /** True if the URL is below a path, such as /plants, where some route requires a token. */
    needsToken(url: string): boolean {
      const segments = segmentsOf(url);
      return rootsWithToken.some((root) => root.every((text, at) => text === segments[at]));
    },
    /** Returns the error for a request without a route. */
    whyNone(url: string): PlantStoreError {
      const segments = segmentsOf(url);
      const path = findPath(segments);
      if (path) {
        const methods = [...path.routes.keys()];
        const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
        return new PlantStoreError('no_such_method', `This path supports only ${allow}`, { detail: { allow } });
      }
      if (!pathOf(url).split('/').every(isReadable)) {
        return new PlantStoreError('bad_parameter', 'The path is malformed. Check its percent-encoding.');
      }
      const hasExtraSlash = segments.at(-1) === '' && findPath(segments.slice(0, -1)) !== undefined;
      const advice = hasExtraSlash ? 'Remove the slash at the end.' : `See ${basePath}/openapi.json for all paths.`;
      return new PlantStoreError('no_such_path', `This path does not exist. ${advice}`);
    },
  };

  function findPath(values: string[]): RoutedPath | undefined {
    return byDepth.get(values.length)?.find(({ segments }) => isMatch(segments, values));
  }
}

function toSegment(part: string): Segment {
  return part.startsWith(':') ? { parameter: part.slice(1) } : { text: part };
}

function isFixed({ segments }: RoutedPath): boolean {
  return segments.every((segment) => 'text' in segment);
}

function isMatch(segments: Segment[], values: string[]): boolean {
  return segments.every((segment, at) => ('text' in segment ? segment.text === values[at] : values[at] !== ''));
}

function paramsOf({ segments }: RoutedPath, values: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, segment] of segments.entries()) {
    if ('parameter' in segment) params[segment.parameter] = values[at] ?? '';
  }
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
