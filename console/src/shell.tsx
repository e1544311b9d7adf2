// What stands around every view: where one can go, who one is, and the way out.

import type { ComponentChildren } from 'preact';
import { Leaf } from './sign-in.tsx';
import type { View } from './view.ts';
import { useWorkspace } from './workspace.ts';

export function Shell(props: {
  current: View['name'];
  views: View['name'][];
  onSignOut(): void;
  children: ComponentChildren;
}) {
  const { self } = useWorkspace();
  const { current, views, onSignOut, children } = props;
  return (
    <>
      <button type="button" class="skip" onClick={skip}>
        Skip to the content
      </button>
      <header class="bar">
        <span class="brand">
          <Leaf /> Plant Store
        </span>
        <nav aria-label="Views">
          {views.map((name) => (
            <a key={name} href={`#/${name}`} aria-current={name === current ? 'page' : undefined}>
              {TITLES[name]}
            </a>
          ))}
          <a href="docs">Interface</a>
        </nav>
        <span class="who">
          <span title={self.scopes.join(', ')}>{self.name}</span>
          <button type="button" onClick={onSignOut}>
            Sign out
          </button>
        </span>
      </header>
      <main id="main" tabIndex={-1}>
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

/** Not a link, since the part behind # belongs to the views. */
function skip(): void {
  document.getElementById('main')?.focus();
}
