// The bar of tabs at the bottom of a phone.

import { useEffect, useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { linkTo, type ViewName } from '../view.ts';
import { useFailing } from './account.ts';
import { MoreSheet } from './more-sheet.tsx';
import { PAGES } from './pages.ts';

const TABS: ViewName[] = ['plants', 'dashboard', 'activity'];

export function TabBar({ current, onSignOut }: { current: ViewName; onSignOut(): void }) {
  const { can } = useWorkspace();
  const [isOpen, setOpen] = useState(false);
  const failing = useFailing();
  useEffect(() => setOpen(false), [current]);
  return (
    <>
      <nav class="tabbar" aria-label="Tabs">
        {PAGES.filter(({ name, scopes }) => TABS.includes(name) && scopes.some(can)).map(({ name, title, icon }) => (
          <a key={name} href={linkTo(name)} aria-current={name === current ? 'page' : undefined}>
            <Icon name={icon} />
            {title}
          </a>
        ))}
        <button
          type="button"
          aria-expanded={isOpen}
          aria-current={TABS.includes(current) ? undefined : 'page'}
          onClick={() => setOpen(true)}
        >
          <Icon name="menu" />
          More
          {failing > 0 && <span class="tab-dot" />}
        </button>
      </nav>
      {isOpen && <MoreSheet current={current} onSignOut={onSignOut} onClose={() => setOpen(false)} />}
    </>
  );
}
