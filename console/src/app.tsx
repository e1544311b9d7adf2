// The root of the console: it signs the user in and shows the current view.

import { PlantStoreError, type Scope } from 'plant-store/client';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dashboard } from './dashboard.tsx';
import { ImportProvider } from './import-run.tsx';
import { createLive, NO_LIVE } from './live.ts';
import { PlantsPage } from './plants-page.tsx';
import { forgetToken, type Session, savedToken, signIn } from './session.ts';
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
  /** Error message if the saved token could not be checked. Empty otherwise. */
  const [delay, setDelay] = useState('');
  const [isReady, setReady] = useState(false);
  const [notice, setNotice] = useState<string[]>([]);
  const trying = useRef<AbortController>(undefined);

  useEffect(() => resume(), []);

  if (delay) return <Delay why={delay} onTick={() => trying.current ?? resume()} onRetry={resume} />;
  if (!isReady) return <p class="splash">Loading…</p>;
  if (!workspace) return <SignIn notice={notice} onSignedIn={enter} />;
  return (
    <WorkspaceContext.Provider value={workspace}>
      <ToastsProvider>
        <ImportProvider>
          <Pages onSignOut={() => workspace.endSession('')} />
        </ImportProvider>
      </ToastsProvider>
    </WorkspaceContext.Provider>
  );

  /** Signs in with the saved token. Aborts an earlier attempt. */
  function resume(): void {
    const token = savedToken();
    if (token === undefined) {
      setReady(true);
      return;
    }
    trying.current?.abort();
    const own = new AbortController();
    trying.current = own;
    signIn(token, own.signal)
      .then(enter)
      .catch((error: Error) => {
        if (own.signal.aborted) return;
        if (!(error instanceof PlantStoreError) || error.code !== 'bad_token') return setDelay(error.message);
        forgetToken();
        setDelay('');
        setNotice([`Sign in again: ${error.message}`]);
      })
      .finally(() => {
        if (trying.current === own) trying.current = undefined;
        setReady(true);
      });
  }

  function enter(session: Session): void {
    const unfinished = new Set<() => string>();
    const endSession = (why: string) => {
      if (session.ended.aborted) return;
      session.end();
      live.stop();
      setNotice(why === '' ? [] : [why, ...[...unfinished].map((tell) => tell())].filter(Boolean));
      setWorkspace(undefined);
    };
    const live = session.can('plants:read')
      ? createLive(session, (error) => endSession(`You were signed out: ${error.message}`))
      : NO_LIVE;
    setNotice([]);
    setDelay('');
    setWorkspace({ ...session, live, endSession, unfinished });
  }
}

const RETRY_MS = 4000;

function Delay({ why, onTick, onRetry }: { why: string; onTick(): void; onRetry(): void }) {
  useEffect(() => {
    const timer = setInterval(onTick, RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="splash">
      <p role="alert">{why}</p>
      <button type="button" onClick={onRetry}>
        Retry
      </button>
    </main>
  );
}

interface Page {
  /** The page is shown to tokens with at least one of these scopes. */
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
  const name = views.find((name) => name === wanted.name) ?? views[0];
  const Content = name && PAGES[name].Content;
  return (
    <Shell current={name} views={views} onSignOut={onSignOut}>
      {Content ? <Content key={name} /> : <p class="empty">This token has no scopes. Sign in with another token.</p>}
    </Shell>
  );
}
