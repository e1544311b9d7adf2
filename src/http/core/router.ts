// Which route takes a request. Where none does: does the path exist with another method, and may a stranger know.

import { PlantStoreError } from '../../domain/errors.ts';
import type { Route } from './route.ts';

export interface Found {
  route: Route;
  /** Parts of the path, by their names. */
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
  /** As nearly everybody writes them. */
  const plain = new Map<string, Found>();
  for (const { route, isExact } of known) {
    if (isExact) plain.set(`${route.method} ${basePath}${route.path}`, { route, params: NO_PARAMS });
  }

  return {
    /** A path that is there as it stands takes only its own methods, not those of one with a parameter that it fits. */
    find(method: string, url: string): Found | undefined {
      const served = method === 'HEAD' ? 'GET' : method;
      const asItStands = plain.get(`${served} ${url}`);
      if (asItStands) return asItStands;
      const segments = segmentsOf(url);
      const found = allAt(segments).find(({ route }) => route.method === served);
      return found && { route: found.route, params: paramsOf(found.segments, segments) };
    },
    /** True in the trees, such as /plants, where some route asks for a token. */
    needsToken(url: string): boolean {
      const segments = segmentsOf(url).slice(0, rootDepth + 1);
      return withToken.some((route) => isMatch(route.segments.slice(0, rootDepth + 1), segments));
    },
    /** What to tell where nothing was found. */
    whyNone(url: string): PlantStoreError {
      const segments = segmentsOf(url);
      const methods = allAt(segments).map(({ route }) => route.method);
      if (methods.length > 0) {
        const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
        return new PlantStoreError('no_such_method', `This path takes only ${allow}`, { detail: { allow } });
      }
      if (!pathOf(url).split('/').every(isReadable)) {
        return new PlantStoreError('bad_parameter', 'The path is not well-formed: look at its percent signs');
      }
      const isSlashTooMany = segments.at(-1) === '' && allAt(segments.slice(0, -1)).length > 0;
      const advice = isSlashTooMany ? 'leave the slash at the end out' : `see ${basePath}/openapi.json`;
      return new PlantStoreError('no_such_path', `No such path: ${advice}`);
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

/** Of a path, a path with a query, or a whole URL as a proxy sends it. */
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

/** As it is where it cannot be. */
export function decode(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
