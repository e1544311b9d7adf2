// Selects the view by the fragment of the URL, so that views can be linked and Back works.

import { useEffect, useState } from 'preact/hooks';

export const VIEWS = ['plants', 'dashboard', 'transfer', 'tokens', 'webhooks'] as const;

export interface View {
  name: (typeof VIEWS)[number];
  parameters: URLSearchParams;
}

export function useView(): View {
  const [view, setView] = useState(readView);
  useEffect(() => {
    const onChange = () => setView(readView());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return view;
}

/** Replaces the parameters without a new history entry, because a search changes with each key. */
export function replaceParameters(name: View['name'], parameters: Record<string, string | undefined>): void {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const query = new URLSearchParams(given).toString();
  history.replaceState(null, '', `#/${name}${query && `?${query}`}`);
}

function readView(): View {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?', 2);
  return { name: VIEWS.find((name) => name === path) ?? 'plants', parameters: new URLSearchParams(query) };
}
