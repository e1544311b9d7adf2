// The buttons of a webhook. Actions that the token does not allow are absent.

import type { Webhook } from 'plant-store/client';
import { useTell } from '../frame/notices.tsx';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { Menu } from '../shared/popover.tsx';
import type { Test } from './test-report.tsx';
import { useWebhookWork } from './use-webhook-work.ts';
import { titleOf } from './webhook-text.ts';

export type WebhookAction = 'edit' | 'rotate' | 'replay' | 'delete';

interface Props {
  webhook: Webhook;
  onAction(action: WebhookAction): void;
  onTest(test: Test | undefined): void;
}

export function WebhookActions({ webhook, onAction, onTest }: Props) {
  const { client, can } = useWorkspace();
  const isOffline = useIsOffline();
  const { isBusy, run } = useWebhookWork(webhook.id);
  const mayRead = can('plants:read'); // The API requires it for all that sends plants.

  async function sendTest(): Promise<void> {
    onTest({ isRunning: true });
    const isDone = await run(async () => onTest({ isRunning: false, result: await client.webhooks.test(webhook.id) }));
    if (!isDone) onTest(undefined);
  }

  return (
    <div class="btn-row">
      <button type="button" class="btn" disabled={isBusy || isOffline} onClick={() => void sendTest()}>
        <Icon name="send" />
        Send test
      </button>
      {mayRead && <PauseButton webhook={webhook} />}
      {mayRead && (
        <button type="button" class="btn hide-s" disabled={isOffline} onClick={() => onAction('replay')}>
          <Icon name="replay" />
          Replay from…
        </button>
      )}
      {!isOffline && (
        <Menu
          label="More actions"
          items={[
            ...(mayRead
              ? [
                  { icon: 'pencil', text: 'Edit', onClick: () => onAction('edit') },
                  { icon: 'replay', text: 'Replay from a change', onClick: () => onAction('replay') },
                  { icon: 'key', text: 'Rotate secret', onClick: () => onAction('rotate') },
                ]
              : []),
            { icon: 'trash', text: 'Delete webhook', isDanger: true, onClick: () => onAction('delete') },
          ]}
        />
      )}
    </div>
  );
}

/** Pauses the webhook, or resumes it whether a user or the server stopped it. */
function PauseButton({ webhook }: { webhook: Webhook }) {
  const { client } = useWorkspace();
  const tell = useTell();
  const isOffline = useIsOffline();
  const { isBusy, run } = useWebhookWork(webhook.id);
  const isStopped = webhook.status === 'disabled';

  const set = (enabled: boolean) =>
    run(async () => {
      await client.webhooks.update(webhook.id, { enabled });
      if (enabled) tell(`Resumed ${titleOf(webhook)}`);
      else tell(`Paused ${titleOf(webhook)}`, { undo: () => void set(true) });
    });

  return (
    <button type="button" class="btn" disabled={isBusy || isOffline} onClick={() => void set(isStopped)}>
      <Icon name={isStopped ? 'right' : 'pause'} />
      {isStopped ? 'Resume' : 'Pause'}
    </button>
  );
}
