// The frame of every page: navigation, the page and its title.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { openView, type ViewName } from '../view.ts';
import { OfflineBanner } from './offline-banner.tsx';
import { PAGES } from './pages.ts';
import { useShortcuts } from './shortcuts.ts';
import { Sidebar } from './sidebar.tsx';
import { TabBar } from './tab-bar.tsx';
import { useKeptFocus } from './use-kept-focus.ts';

interface Props {
  current: ViewName;
  onSignOut(): void;
  onPalette(): void;
  children: ComponentChildren;
}

export function Frame({ current, onSignOut, onPalette, children }: Props) {
  const main = useRef<HTMLElement>(null);
  const { can } = useWorkspace();
  const isOffline = useIsOffline();
  const title = PAGES.find(({ name }) => name === current)?.title;
  useKeptFocus(main);
  useShortcuts(
    Object.fromEntries(
      PAGES.filter(({ scopes }) => scopes.some(can)).map(({ letter, name }) => [
        `g ${letter.toLowerCase()}`,
        () => openView(name),
      ]),
    ),
  );
  useEffect(() => {
    document.title = `${title} · Plant Store`;
    return () => {
      document.title = 'Plant Store';
    };
  }, [title]);
  useEffect(() => {
    document.documentElement.dataset.state = isOffline ? 'offline' : '';
  }, [isOffline]);
  return (
    <div class="app">
      {/* A button, because a link would change the fragment, which selects the view. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <Sidebar current={current} onSignOut={onSignOut} onPalette={onPalette} />
      <main ref={main} class="main" tabIndex={-1}>
        <OfflineBanner />
        {children}
      </main>
      <TabBar current={current} onSignOut={onSignOut} />
    </div>
  );
}
