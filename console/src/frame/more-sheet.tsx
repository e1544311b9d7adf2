// The sheet behind "More" on a phone: the other pages, the theme and sign-out.

import { Dialog } from '@base-ui/react/dialog';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { linkTo, type ViewName } from '../view.ts';
import { roleOf, useFailing } from './account.ts';
import { PAGES } from './pages.ts';
import { toggleTheme, useIsDark } from './settings.ts';

const OTHERS: ViewName[] = ['transfer', 'tokens', 'webhooks'];

export function MoreSheet({ current, onSignOut, onClose }: { current: ViewName; onSignOut(): void; onClose(): void }) {
  const { self, can } = useWorkspace();
  const failing = useFailing();
  const isDark = useIsDark();
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Viewport className="scrim sheet-scrim">
          <Dialog.Popup className="sheet" aria-label="More">
            <div class="grip" />
            <div class="me">
              <span class="avatar" aria-hidden="true">
                {[...self.name][0]}
              </span>
              <span class="me-text">
                <b>
                  <bdi>{self.name}</bdi>
                </b>
                <span>{roleOf(can)}</span>
              </span>
              <button type="button" class="btn" onClick={onSignOut}>
                <Icon name="leave" />
                Sign out
              </button>
            </div>
            <nav aria-label="More">
              {PAGES.filter(({ name, scopes }) => OTHERS.includes(name) && scopes.some(can)).map(
                ({ name, title, icon }) => (
                  <a
                    key={name}
                    href={linkTo(name)}
                    aria-current={name === current ? 'page' : undefined}
                    onClick={onClose}
                  >
                    <Icon name={icon} />
                    {title}
                    {name === 'webhooks' && failing > 0 && <span class="badge warn">{failing} not delivering</span>}
                  </a>
                ),
              )}
              <a href="docs">
                <Icon name="book" />
                API reference
              </a>
            </nav>
            {!can('admin') && <p class="help">Tokens and Webhooks require a token with the scope admin.</p>}
            <button type="button" class="sheet-row" onClick={() => toggleTheme(isDark)}>
              <Icon name={isDark ? 'sun' : 'moon'} />
              {isDark ? 'Light theme' : 'Dark theme'}
            </button>
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
