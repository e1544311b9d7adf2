// Selects the view by the fragment of the URL, so that views can be linked and Back works.

import { useSyncExternalStore } from 'preact/compat';
import { useMemo } from 'preact/hooks';

export const VIEWS = ['plants', 'dashboard', 'activity', 'transfer', 'tokens', 'webhooks'] as const;
export type ViewName = (typeof VIEWS)[number];

export interface View {
  name: ViewName;
  parameters: URLSearchParams;
}

/** Values of parameters. A parameter without a value is left out. */
export type Parameters = Record<string, string | string[] | undefined>;

const CHANGED = 'viewchange';

export function useView(): View {
  const hash = useSyncExternalStore(listen, () => location.hash);
  return useMemo(() => readView(hash), [hash]);
}

function listen(listener: () => void): () => void {
  const events = ['hashchange', CHANGED];
  for (const event of events) addEventListener(event, listener);
  return () => {
    for (const event of events) removeEventListener(event, listener);
  };
}

/** Returns the link to a view. */
export function linkTo(name: ViewName, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [key, given] of Object.entries(parameters)) {
    for (const value of [given ?? []].flat()) query.append(key, value);
  }
  return linkOf({ name, parameters: query });
}

function linkOf({ name, parameters }: View): string {
  return `#/${name}${parameters.size > 0 ? `?${parameters}` : ''}`;
}

/** Opens a view, with a new entry in the browser's history. */
export function openView(name: ViewName, parameters: Parameters = {}): void {
  location.hash = linkTo(name, parameters);
}

/** Opens a view over the current one, such as a plant over the list. `leaveView` and Back return to the current one. */
export function openViewOver(name: ViewName, parameters: Parameters): void {
  if (isLeaving) {
    addEventListener('popstate', () => openViewOver(name, parameters), { once: true });
    return;
  }
  history.pushState({ below: linkOf(currentView()) }, '', linkTo(name, parameters));
  dispatchEvent(new Event(CHANGED));
}

/** Leaves a view for the one below it, or replaces it if it was opened in another way. */
export function leaveView(name: ViewName, parameters: Parameters): void {
  const isBelow = history.state?.below === linkTo(name, parameters);
  replaceView(name, parameters); // The browser goes back a moment later. Until then, a second call must not go further.
  if (!isBelow || isLeaving) return;
  isLeaving = true;
  history.back();
}

/** True while the browser goes back. */
let isLeaving = false;
addEventListener('popstate', () => {
  isLeaving = false;
});

/**
 * Replaces the parameters without a new entry in the history, for example while the user types a search. Does nothing
 * if the user has left the view meanwhile.
 */
export function replaceView(name: ViewName, parameters: Parameters): void {
  if (currentView().name !== name) return;
  history.replaceState(history.state, '', linkTo(name, parameters));
  dispatchEvent(new Event(CHANGED));
}

/** Returns the view in the URL, which may not be rendered yet. */
export function currentView(): View {
  return readView(location.hash);
}

function readView(hash: string): View {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return { name: VIEWS.find((name) => name === path) ?? 'plants', parameters: new URLSearchParams(query) };
}
