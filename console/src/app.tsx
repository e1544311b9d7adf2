// The root of the console: it signs the user in and shows the current page.

import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/preact-query';
import { PlantStoreError } from 'plant-store/client';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ActivityPage } from './activity/activity-page.tsx';
import { DashboardPage } from './dashboard/dashboard-page.tsx';
import { Frame } from './frame/frame.tsx';
import { NoticeProvider } from './frame/notices.tsx';
import { PAGES } from './frame/pages.ts';
import { Palette } from './frame/palette.tsx';
import { ShortcutSheet } from './frame/shortcut-sheet.tsx';
import { useShortcuts } from './frame/shortcuts.ts';
import { useSignOut } from './frame/sign-out.tsx';
import { PlantsPage } from './plants/plants-page.tsx';
import { errorText } from './session/error-text.ts';
import { createLive, NO_LIVE } from './session/live.ts';
import { createQueries } from './session/queries.ts';
import { forgetToken, type Session, savedToken, signIn } from './session/session.ts';
import { SignIn } from './session/sign-in.tsx';
import { endsSession, useWorkspace, type Workspace, WorkspaceContext } from './session/workspace.ts';
import { TokensPage } from './tokens/tokens-page.tsx';
import { TransferPage } from './transfer/transfer-page.tsx';
import { TransferProvider } from './transfer/transfer-provider.tsx';
import { useView, type ViewName } from './view.ts';
import { WebhooksPage } from './webhooks/webhooks-page.tsx';

export function App() {
  const [workspace, setWorkspace] = useState<Workspace>();
  /** Error message if the saved token could not be checked. Empty otherwise. */
  const [delay, setDelay] = useState('');
  const [isReady, setReady] = useState(false);
  const [notice, setNotice] = useState<string[]>([]);
  const trying = useRef<AbortController>(undefined);

  useEffect(() => resume(), []);

  if (delay) return <Delay why={delay} onTick={() => trying.current ?? resume()} onRetry={resume} />;
  if (!isReady) return null;
  if (!workspace) return <SignIn notice={notice} onSignedIn={enter} />;
  return (
    // Base UI would otherwise add style elements, which the content security policy forbids.
    <CSPProvider disableStyleElements>
      <WorkspaceContext.Provider value={workspace}>
        <QueryClientProvider client={workspace.queries}>
          <NoticeProvider>
            <TransferProvider>
              <CurrentPage />
            </TransferProvider>
          </NoticeProvider>
        </QueryClientProvider>
      </WorkspaceContext.Provider>
    </CSPProvider>
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
        if (!(error instanceof PlantStoreError) || error.code !== 'bad_token') return setDelay(errorText(error));
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
      queries.clear();
      setNotice(why === '' ? [] : [why, ...[...unfinished].map((tell) => tell())].filter(Boolean));
      setWorkspace(undefined);
    };
    const queries = createQueries((error) => endsSession(error, { endSession, ended: session.ended }));
    const live = session.can('plants:read')
      ? createLive(session, (error) => endSession(`You were signed out: ${error.message}`))
      : NO_LIVE;
    setNotice([]);
    setDelay('');
    setWorkspace({ ...session, live, queries, endSession, unfinished });
  }
}

const RETRY_MS = 4000;

function Delay({ why, onTick, onRetry }: { why: string; onTick(): void; onRetry(): void }) {
  useEffect(() => {
    const timer = setInterval(onTick, RETRY_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <main class="empty">
      <p role="alert">{why}</p>
      <button type="button" class="btn" onClick={onRetry}>
        Try now
      </button>
    </main>
  );
}

const CONTENT: Record<ViewName, () => JSX.Element> = {
  plants: PlantsPage,
  dashboard: DashboardPage,
  activity: ActivityPage,
  transfer: TransferPage,
  tokens: TokensPage,
  webhooks: WebhooksPage,
};

function CurrentPage() {
  const { can } = useWorkspace();
  const wanted = useView();
  const { signOut, question } = useSignOut();
  const [overlay, setOverlay] = useState<'palette' | 'shortcuts'>();
  useShortcuts({ 'Ctrl+k': () => setOverlay('palette'), '?': () => setOverlay('shortcuts') });
  const shown = PAGES.filter(({ scopes }) => scopes.some(can));
  const page = shown.find(({ name }) => name === wanted.name) ?? shown[0] ?? PAGES[0];
  if (!page) return null;
  const Content = CONTENT[page.name];
  return (
    <Frame current={page.name} onSignOut={signOut} onPalette={() => setOverlay('palette')}>
      {shown.length > 0 ? <Content key={page.name} /> : <NoScopes />}
      {overlay === 'palette' && (
        <Palette onShortcuts={() => setOverlay('shortcuts')} onClose={() => setOverlay(undefined)} />
      )}
      {overlay === 'shortcuts' && <ShortcutSheet onClose={() => setOverlay(undefined)} />}
      {question}
    </Frame>
  );
}

function NoScopes() {
  return (
    <div class="empty">
      <h2>This token has no scopes</h2>
      <p>Sign in with another token.</p>
    </div>
  );
}
