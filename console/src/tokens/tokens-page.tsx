// The page of tokens: active and ended ones, and the dialogs that create and change them.

import type { DescribedToken, TokenWithSecret } from 'plant-store/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { StatusStrip } from '../frame/notices.tsx';
import { useShortcuts } from '../frame/shortcuts.ts';
import { useTokens } from '../session/queries.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Failed } from '../shared/failed.tsx';
import { Icon, Keys } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { count, number } from '../shared/numbers.ts';
import { Scrolling } from '../shared/scrolling.tsx';
import { linkTo, replaceView, useView } from '../view.ts';
import { CreateToken } from './create-token.tsx';
import { EditToken } from './edit-token.tsx';
import { RevokeToken } from './revoke-token.tsx';
import { RotateToken } from './rotate-token.tsx';
import { TokenSecret } from './token-secret.tsx';
import { type TokenAction, TokenTable } from './token-table.tsx';
import { isManageable } from './token-text.ts';

type Open =
  | { kind: 'create' }
  | { kind: TokenAction; token: DescribedToken }
  | { kind: 'secret'; token: TokenWithSecret; isNew: boolean };

/** From this number on, a list has a search field. */
const MANY = 10;

export function TokensPage() {
  const { data: tokens, error, refetch } = useTokens();
  const { parameters } = useView();
  const isEnded = parameters.get('show') === 'ended';
  const isOffline = useIsOffline();
  const [text, setText] = useState('');
  const [open, setOpen] = useState<Open>();
  const create = () => setOpen({ kind: 'create' });
  /** A late response closes its own dialog, not one that was opened since. */
  const close = (closed: Open) => setOpen((now) => (now === closed ? undefined : now));
  useShortcuts({ n: create }, !isOffline);
  useEffect(() => {
    if (!parameters.has('create')) return;
    replaceView('tokens', {});
    create();
  }, [parameters]);

  const listed = tokens?.filter(({ status }) => (status !== 'active') === isEnded) ?? [];
  const found = listed.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <section class="list" aria-labelledby="title">
      <header class="head">
        <h1 id="title">Tokens</h1>
        <div class="grow" />
        <button type="button" class="btn primary" disabled={isOffline} onClick={create}>
          <Icon name="plus" />
          <span class="lbl">Create token</span>
          <Keys of={['N']} />
        </button>
      </header>
      <div class="toolbar">
        <p class="lead">
          One token for each person or program, with as few rights as will do. Every change names the token that made
          it.
        </p>
        {listed.length >= MANY && <Search text={text} onChange={setText} />}
        {tokens && <Tabs tokens={tokens} isEnded={isEnded} />}
      </div>
      <Scrolling class="scroller" label="List of tokens">
        {tokens ? (
          <Listed all={listed} found={found} isEnded={isEnded} onAction={(kind, token) => setOpen({ kind, token })} />
        ) : error ? (
          <Failed error={error} onRetry={() => void refetch()} />
        ) : (
          <Late>
            <Skeleton />
          </Late>
        )}
      </Scrolling>
      <StatusStrip>{tokens && `${count(listed.length, isEnded ? 'ended token' : 'active token')}`}</StatusStrip>
      {open && <OpenDialog open={open} onOpen={setOpen} onClose={() => close(open)} />}
    </section>
  );
}

function Listed(props: {
  all: DescribedToken[];
  found: DescribedToken[];
  isEnded: boolean;
  onAction(action: TokenAction, token: DescribedToken): void;
}) {
  const { all, found, isEnded, onAction } = props;
  if (found.length > 0) return <TokenTable tokens={found} isEnded={isEnded} onAction={onAction} />;
  return (
    <div class="empty">
      <p>{all.length > 0 ? 'No token has this text in its name.' : 'No token has ended.'}</p>
      {all.length === 0 && (
        <a class="btn" href={linkTo('tokens')}>
          Show active tokens
        </a>
      )}
    </div>
  );
}

function Tabs({ tokens, isEnded }: { tokens: DescribedToken[]; isEnded: boolean }) {
  const active = tokens.filter(({ status }) => status === 'active').length;
  return (
    <nav class="seg push" aria-label="Status">
      <a href={linkTo('tokens')} aria-current={isEnded ? undefined : 'true'}>
        Active <span class="seg-n">{number(active)}</span>
      </a>
      <a href={linkTo('tokens', { show: 'ended' })} aria-current={isEnded ? 'true' : undefined}>
        Ended <span class="seg-n">{number(tokens.length - active)}</span>
      </a>
    </nav>
  );
}

function Search({ text, onChange }: { text: string; onChange(text: string): void }) {
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  return (
    <div class="search">
      <label class="search-box">
        <Icon name="search" />
        <span class="unseen">Search by name</span>
        <input
          ref={field}
          type="search"
          placeholder="Search by name"
          autocomplete="off"
          value={text}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
        <Keys of={['/']} />
      </label>
    </div>
  );
}

const BONES = ['a', 'b', 'c', 'd'];

function Skeleton() {
  return (
    <div class="toks" aria-hidden="true">
      <div class="tbody">
        {BONES.map((key) => (
          <div key={key} class="tr tok">
            <div class="td k-name">
              <i class="bone" />
            </div>
            <div class="td k-scopes">
              <i class="bone" />
            </div>
            <div class="td k-rate">
              <i class="bone" />
            </div>
            <div class="td k-used">
              <i class="bone" />
            </div>
          </div>
        ))}
      </div>
    </div>
  );
}

function OpenDialog({ open, onOpen, onClose }: { open: Open; onOpen(open: Open): void; onClose(): void }) {
  const { can } = useWorkspace();
  if (open.kind === 'create') {
    return <CreateToken onCreated={(token) => onOpen({ kind: 'secret', token, isNew: true })} onClose={onClose} />;
  }
  const { token } = open;
  if (open.kind === 'secret') return <TokenSecret token={open.token} isNew={open.isNew} onClose={onClose} />;
  if (open.kind === 'edit') return <EditToken token={token} onClose={onClose} />;
  if (open.kind === 'rotate') {
    return (
      <RotateToken
        token={token}
        onRotated={(rotated) => onOpen({ kind: 'secret', token: rotated, isNew: false })}
        onClose={onClose}
      />
    );
  }
  const onRotate = isManageable(token, can) ? () => onOpen({ kind: 'rotate', token }) : undefined;
  return <RevokeToken token={token} onRotate={onRotate} onClose={onClose} />;
}
