// Signed in or not, and which view: the whole console from above.

import type { Scope } from 'plant-store/client';
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Dashboard } from './dashboard.tsx';
import { createLive, NO_LIVE } from './live.ts';
import { PlantsPage } from './plants-page.tsx';
import { type Session, savedToken, signIn, signOut } from './session.ts';
import { Shell } from './shell.tsx';
import { SignIn } from './sign-in.tsx';
import { ToastsProvider } from './toasts.tsx';
import { TokensPage } from './tokens-page.tsx';
import { TransferPage } from './transfer-page.tsx';
import { useView, VIEWS, type View } from './view.ts';
import { WebhooksPage } from './webhooks-page.tsx';
import { useWorkspace, type Workspace, WorkspaceContext } from './workspace.ts';

export function App() {
  const [workspace, setWorkspace] = useState<Workspace>();
  const [isReady, setReady] = useState(false);
  const [notice, setNotice] = useState('');

  useEffect(() => {
    const token = savedToken();
    if (token === undefined) return setReady(true);
    signIn(token)
      .then(enter, (error: Error) => leave(`Please sign in again: ${error.message}`))
      .finally(() => setReady(true));
  }, []);

  useEffect(() => workspace?.live.stop, [workspace]);

  if (!isReady) return <p class="splash">Opening the store…</p>;
  if (!workspace) return <SignIn notice={notice} onSignedIn={enter} />;
  return (
    <WorkspaceContext.Provider value={workspace}>
      <ToastsProvider>
        <Pages onSignOut={() => leave('')} />
      </ToastsProvider>
    </WorkspaceContext.Provider>
  );

  function enter(session: Session): void {
    const live = session.can('plants:read')
      ? createLive(session.client, (error) => leave(`You were signed out: ${error.message}`))
      : NO_LIVE;
    setNotice('');
    setWorkspace({ ...session, live, endSession: leave });
  }

  function leave(why: string): void {
    signOut();
    setNotice(why);
    setWorkspace(undefined);
  }
}

interface Page {
  /** Who has none of these does not see it. */
  scopes: Scope[];
  Content(): JSX.Element;
}

const PAGES: Record<View['name'], Page> = {
  plants: { scopes: ['plants:read'], Content: PlantsPage },
  dashboard: { scopes: ['plants:read'], Content: Dashboard },
  transfer: { scopes: ['plants:read', 'plants:write'], Content: TransferPage },
  tokens: { scopes: ['admin'], Content: TokensPage },
  webhooks: { scopes: ['admin'], Content: WebhooksPage },
};

function Pages({ onSignOut }: { onSignOut(): void }) {
  const { can } = useWorkspace();
  const wanted = useView();
  const views = VIEWS.filter((name) => PAGES[name].scopes.some(can));
  const name = views.find((name) => name === wanted.name) ?? views[0] ?? 'plants';
  const { Content } = PAGES[name];
  return (
    <Shell current={name} views={views} onSignOut={onSignOut}>
      <Content key={name} />
    </Shell>
  );
}
