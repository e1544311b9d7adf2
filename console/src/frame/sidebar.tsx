// The sidebar: pages, connection, theme and sign-out. On narrower screens it is a rail of icons.

import { useStatus, useSummary } from '../session/queries.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Icon, Keys } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { ImportShare } from '../transfer/import-share.tsx';
import { linkTo, type ViewName } from '../view.ts';
import { roleOf, useFailing } from './account.ts';
import { CONNECT, PAGES, type Page } from './pages.ts';
import { toggleTheme, useIsDark } from './settings.ts';

export function Sidebar({
  current,
  onSignOut,
  onPalette,
}: {
  current: ViewName;
  onSignOut(): void;
  onPalette(): void;
}) {
  const main = PAGES.filter(({ name }) => !CONNECT.includes(name));
  const connect = PAGES.filter(({ name }) => CONNECT.includes(name));
  const { self, can } = useWorkspace();
  return (
    <aside class="side" aria-label="Sidebar">
      <a class="brand" href={linkTo('plants')} aria-label="Plant Store">
        <Icon name="leaf" />
        <span>Plant Store</span>
      </a>
      <button type="button" class="jump" title="Search or jump (Ctrl K)" onClick={onPalette}>
        <Icon name="search" />
        <span>Search or jump</span>
        <Keys of={['Ctrl K']} />
      </button>
      <nav aria-label="Main">
        <div class="nav-group">
          {main.map((page) => (
            <NavLink key={page.name} page={page} isCurrent={page.name === current} />
          ))}
        </div>
        <p class="nav-title">Connect</p>
        <div class="nav-group">
          {connect.map((page) => (
            <NavLink key={page.name} page={page} isCurrent={page.name === current} />
          ))}
          <a href="docs" title="API reference">
            <Icon name="book" />
            <span class="nav-label">API reference</span>
          </a>
        </div>
      </nav>
      <div class="side-foot">
        <Connection />
        <div class="me">
          <span class="avatar" aria-hidden="true">
            {[...self.name][0]}
          </span>
          <span class="me-text">
            <b title={self.name}>
              <bdi>{self.name}</bdi>
            </b>
            <span>{roleOf(can)}</span>
          </span>
          <span class="me-tools">
            <ThemeButton />
            <button type="button" class="btn icon s quiet" aria-label="Sign out" title="Sign out" onClick={onSignOut}>
              <Icon name="leave" />
            </button>
          </span>
        </div>
      </div>
    </aside>
  );
}

function NavLink({ page, isCurrent }: { page: Page; isCurrent: boolean }) {
  const { can } = useWorkspace();
  const { name, title, icon, scopes } = page;
  if (!scopes.some(can)) {
    return (
      <span class="nav-off" title={`${title} requires a token with the scope ${scopes.join(' or ')}`}>
        <Icon name={icon} />
        <span class="nav-label">{title}</span>
        <span class="nav-count">{scopes.includes('admin') ? 'Admin only' : 'No access'}</span>
      </span>
    );
  }
  return (
    <a href={linkTo(name)} aria-current={isCurrent ? 'page' : undefined} title={title}>
      <Icon name={icon} />
      <span class="nav-label">{title}</span>
      {name === 'plants' && <PlantCount />}
      {name === 'transfer' && <ImportShare />}
      {name === 'webhooks' && <FailingCount />}
    </a>
  );
}

function PlantCount() {
  const summary = useSummary();
  return summary ? <span class="nav-count">{number(summary.plants)}</span> : null;
}

function FailingCount() {
  const failing = useFailing();
  if (failing === 0) return null;
  return (
    <span class="nav-badge" title={`${failing} not delivering`}>
      {failing}
      <span class="unseen"> not delivering</span>
    </span>
  );
}

function Connection() {
  const status = useStatus();
  const isOffline = useIsOffline();
  const database = { sqlite: 'SQLite', postgres: 'PostgreSQL' };
  return (
    <p class="conn" title={isOffline ? 'Reconnecting…' : 'Connected'}>
      <i class="pulse" />
      <span>
        {isOffline ? 'Reconnecting…' : 'Connected'}{' '}
        {status && (
          <span class="sub">
            {database[status.database.kind]}, {status.version}
          </span>
        )}
      </span>
    </p>
  );
}

function ThemeButton() {
  const isDark = useIsDark();
  const label = isDark ? 'Switch to light theme' : 'Switch to dark theme';
  return (
    <button type="button" class="btn icon s quiet" aria-label={label} title={label} onClick={() => toggleTheme(isDark)}>
      <Icon name={isDark ? 'sun' : 'moon'} />
    </button>
  );
}
