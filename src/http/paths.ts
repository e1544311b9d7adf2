// For requests that no route takes: does the path exist with another method, and may a stranger know.

import type { Route } from './route.ts';

export interface Paths {
  /** True in the trees, such as /plants, where some route asks for a token. */
  needsToken(url: string): boolean;
  /** The value of `Allow`, empty when there is no such path. */
  methodsAt(url: string): string;
  /** A path that is there as it stands takes only its own methods, not those of one with a parameter that it fits. */
  shadowed(): Pick<Route, 'method' | 'path'>[];
}

export function createPaths(routes: Route[], basePath: string): Paths {
  const known = routes.map((route) => ({ ...route, segments: segmentsOf(basePath + route.path) }));
  const rootDepth = segmentsOf(basePath).length;
  const withToken = known.filter(({ access }) => access !== 'open');

  return {
    needsToken(url) {
      const segments = segmentsOf(url).slice(0, rootDepth + 1);
      return withToken.some((route) => isMatch(route.segments.slice(0, rootDepth + 1), segments));
    },
    methodsAt(url) {
      const segments = segmentsOf(url);
      const matching = known.filter((route) => isMatch(route.segments, segments));
      const exact = matching.filter((route) => !route.path.includes(':'));
      const methods = (exact.length > 0 ? exact : matching).map(({ method }) => method);
      return methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
    },
    shadowed() {
      const exact = known.filter((route) => !route.path.includes(':'));
      return known
        .filter((route) => route.path.includes(':'))
        .flatMap(({ method, segments }) =>
          exact
            .filter((route) => isMatch(segments, route.segments))
            .filter(({ path }) => !exact.some((other) => other.path === path && other.method === method))
            .map(({ path }) => ({ method, path })),
        );
    },
  };
}

function isMatch(pattern: string[], segments: string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, at) => part === segments[at] || (part.startsWith(':') && segments[at] !== ''))
  );
}

/** Of a path, a path with a query, or a whole URL as a proxy sends it. */
export function pathOf(url: string): string {
  return url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '');
}

function segmentsOf(url: string): string[] {
  return pathOf(url).split('/').slice(1).map(decode);
}

/** As it is where it cannot be. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
