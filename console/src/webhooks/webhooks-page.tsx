// The page of webhooks: the list, and beside it the selected one. On a phone these are two pages.

import type { Webhook, WebhookWithSecret } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { StatusStrip } from '../frame/notices.tsx';
import { useShortcuts } from '../frame/shortcuts.ts';
import { useRefreshOnChange, useWebhooks } from '../session/queries.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Failed } from '../shared/failed.tsx';
import { Icon, Keys } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { count, number } from '../shared/numbers.ts';
import { linkTo, replaceView, useView } from '../view.ts';
import { CreateWebhook } from './create-webhook.tsx';
import { EditWebhook } from './edit-webhook.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { REFRESH_MS, useLastChange } from './use-progress.ts';
import type { WebhookAction } from './webhook-actions.tsx';
import { WebhookDetail } from './webhook-detail.tsx';
import { DeleteWebhook, RotateWebhook } from './webhook-dialogs.tsx';
import { WebhookList } from './webhook-list.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

type Open =
  | { kind: 'create' }
  | { kind: WebhookAction; webhook: Webhook }
  | { kind: 'secret'; webhook: WebhookWithSecret; isNew: boolean };

export function WebhooksPage() {
  const { can } = useWorkspace();
  const { data: webhooks, error, refetch } = useWebhooks(REFRESH_MS);
  useRefreshOnChange(['webhooks'], REFRESH_MS);
  useRefreshOnChange(['last-change'], REFRESH_MS);
  const lastChange = useLastChange(REFRESH_MS);
  const { parameters } = useView();
  const wanted = parameters.get('id') ?? undefined;
  const isOffline = useIsOffline();
  const [open, setOpen] = useState<Open>();
  const create = () => setOpen({ kind: 'create' });
  /** A late response closes its own dialog, not one that was opened since. */
  const close = (closed: Open) => setOpen((now) => (now === closed ? undefined : now));
  const mayAdd = can('plants:read'); // The API requires it, because messages contain plants.
  useShortcuts({ n: create }, mayAdd && !isOffline);
  useEffect(() => {
    if (!parameters.has('create')) return;
    replaceView('webhooks', {});
    if (mayAdd) create();
  }, [parameters]);

  return (
    <section class={wanted ? 'list hooks-page is-detail' : 'list hooks-page'} aria-labelledby="title">
      <header class="head">
        <h1 id="title">Webhooks</h1>
        {webhooks && <span class="head-count">{number(webhooks.length)}</span>}
        <div class="grow" />
        {mayAdd && (
          <button type="button" class="btn primary" disabled={isOffline} onClick={create}>
            <Icon name="plus" />
            <span class="lbl">Add webhook</span>
            <Keys of={['N']} />
          </button>
        )}
      </header>
      {webhooks && webhooks.length > 0 ? (
        <div class="hooks">
          <WebhookList
            webhooks={webhooks}
            current={(wanted ? find(webhooks, wanted) : webhooks[0])?.id}
            lastChange={lastChange}
          />
          <Selected
            webhook={wanted ? find(webhooks, wanted) : webhooks[0]}
            lastChange={lastChange}
            onAction={(kind, webhook) => setOpen({ kind, webhook })}
          />
        </div>
      ) : webhooks ? (
        <Empty mayAdd={mayAdd} onAdd={create} />
      ) : error ? (
        <Failed error={error} onRetry={() => void refetch()} />
      ) : (
        <Late>
          <Skeleton />
        </Late>
      )}
      <StatusStrip>{webhooks && webhooks.length > 0 && count(webhooks.length, 'webhook')}</StatusStrip>
      {open && <OpenDialog open={open} lastChange={lastChange} onOpen={setOpen} onClose={() => close(open)} />}
    </section>
  );
}

function find(webhooks: Webhook[], id: string): Webhook | undefined {
  return webhooks.find((webhook) => webhook.id === id);
}

function Selected(props: {
  webhook: Webhook | undefined;
  lastChange: number | undefined;
  onAction(action: WebhookAction, webhook: Webhook): void;
}) {
  const { webhook, lastChange, onAction } = props;
  if (!webhook) {
    return (
      <div class="hook-detail">
        <div class="empty">
          <p>This webhook does not exist any more.</p>
          <a class="btn" href={linkTo('webhooks')}>
            Show all webhooks
          </a>
        </div>
      </div>
    );
  }
  return (
    <WebhookDetail
      key={webhook.id}
      webhook={webhook}
      lastChange={lastChange}
      onAction={(action) => onAction(action, webhook)}
    />
  );
}

function Empty({ mayAdd, onAdd }: { mayAdd: boolean; onAdd(): void }) {
  return (
    <div class="empty">
      <Icon name="hook" class="empty-i" />
      <p>No webhooks yet. A webhook sends each change to another program.</p>
      {mayAdd ? (
        <button type="button" class="btn" onClick={onAdd}>
          Add webhook
        </button>
      ) : (
        <p class="help">To add one, sign in with a token that can also read plants: messages contain plants.</p>
      )}
    </div>
  );
}

function Skeleton() {
  return (
    <div class="hooks" aria-hidden="true">
      <div class="hook-list">
        {['a', 'b', 'c'].map((key) => (
          <div key={key} class="hook">
            <i class="bone" />
          </div>
        ))}
      </div>
      <div class="hook-detail">
        <i class="bone" />
      </div>
    </div>
  );
}

function OpenDialog(props: { open: Open; lastChange: number | undefined; onOpen(open: Open): void; onClose(): void }) {
  const { open, lastChange, onOpen, onClose } = props;
  if (open.kind === 'create') {
    const show = (webhook: WebhookWithSecret) => {
      onOpen({ kind: 'secret', webhook, isNew: true });
      replaceView('webhooks', { id: webhook.id });
    };
    return <CreateWebhook onCreated={show} onClose={onClose} />;
  }
  if (open.kind === 'secret') return <WebhookSecret webhook={open.webhook} isNew={open.isNew} onClose={onClose} />;
  const { kind, webhook } = open;
  if (kind === 'edit') return <EditWebhook webhook={webhook} onClose={onClose} />;
  if (kind === 'replay') return <ReplayDialog webhook={webhook} lastChange={lastChange} onClose={onClose} />;
  if (kind === 'rotate') {
    const show = (rotated: WebhookWithSecret) => onOpen({ kind: 'secret', webhook: rotated, isNew: false });
    return <RotateWebhook webhook={webhook} onRotated={show} onClose={onClose} />;
  }
  const leave = () => {
    onClose();
    replaceView('webhooks', {});
  };
  return <DeleteWebhook webhook={webhook} onDeleted={leave} onClose={onClose} />;
}
