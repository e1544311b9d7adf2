// The frame of every view: navigation, the name of the token, and sign-out.

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Leaf } from './sign-in.tsx';
import type { View } from './view.ts';
import { useWorkspace } from './workspace.ts';

export function Shell(props: {
  current: View['name'] | undefined;
  views: View['name'][];
  onSignOut(): void;
  children: ComponentChildren;
}) {
  const { self, reach } = useWorkspace();
  const [isLost, setLost] = useState(reach.isLost);
  useEffect(() => reach.listen(() => setLost(reach.isLost())), [reach]);
  const { current, views, onSignOut, children } = props;
  const main = useRef<HTMLElement>(null);
  useKeptFocus(main);
  useEffect(() => {
    document.title = current ? `${TITLES[current]} · Plant Store` : 'Plant Store';
    return () => {
      document.title = 'Plant Store';
    };
  }, [current]);
  return (
    <>
      {/* A button, because a link would change the fragment, which selects the view. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header class="bar">
        <span class="brand">
          <Leaf /> Plant Store
        </span>
        <nav aria-label="Main">
          {views.map((name) => (
            <a key={name} href={`#/${name}`} aria-current={name === current ? 'page' : undefined}>
              {TITLES[name]}
            </a>
          ))}
          <a href="docs">API</a>
        </nav>
        <span class="who">
          <span title={self.scopes.join(', ')}>{self.name}</span>
          <button type="button" onClick={onSignOut}>
            Sign out
          </button>
        </span>
      </header>
      <p class="lost" role="status">
        {isLost && 'The server is unreachable. This page may show old data. Retrying…'}
      </p>
      <main ref={main} tabIndex={-1}>
        {children}
      </main>
    </>
  );
}

const TITLES: Record<View['name'], string> = {
  plants: 'Plants',
  dashboard: 'Dashboard',
  transfer: 'Import and export',
  tokens: 'Tokens',
  webhooks: 'Webhooks',
};

/** Moves the focus to the content when the focused element is removed. Otherwise it would move to the page's top. */
function useKeptFocus(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    let last: Element | null = null;
    const note = () => {
      last = document.activeElement;
    };
    const keep = () => {
      const isLost = document.activeElement === document.body && !last?.isConnected;
      if (isLost) main.current?.focus({ preventScroll: true });
    };
    keep();
    addEventListener('focusin', note);
    const observer = new MutationObserver(keep);
    observer.observe(document.body, { childList: true, subtree: true });
    return () => {
      removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, []);
}
