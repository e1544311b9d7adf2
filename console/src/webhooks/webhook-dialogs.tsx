// The questions before the secret of a webhook is replaced, and before a webhook is deleted.

import type { Webhook, WebhookWithSecret } from 'plant-store/client';
import { useTell } from '../frame/notices.tsx';
import { isResponseLost } from '../session/error-text.ts';
import { useWorkspace } from '../session/workspace.ts';
import { ConfirmWork } from '../shared/confirm-work.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { titleOf } from './webhook-text.ts';

export function RotateWebhook(props: { webhook: Webhook; onRotated(made: WebhookWithSecret): void; onClose(): void }) {
  const { webhook, onRotated, onClose } = props;
  const { client, queries } = useWorkspace();

  async function rotate(): Promise<void> {
    try {
      onRotated(await client.webhooks.rotate(webhook.id));
    } finally {
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    }
  }

  return (
    <FormDialog
      title={`Rotate the secret of ${titleOf(webhook)}`}
      action="Rotate secret"
      onSubmit={rotate}
      explain={(error) =>
        isResponseLost(error) ? 'No response arrived. Rotate again: the first new secret, if any, is lost.' : undefined
      }
      onClose={onClose}
    >
      {() => (
        <p>
          Creates a new secret. For 24 hours, each message is signed with the old and the new one, so that the receiver
          can change over without an interruption.
        </p>
      )}
    </FormDialog>
  );
}

export function DeleteWebhook(props: { webhook: Webhook; onDeleted(): void; onClose(): void }) {
  const { webhook, onDeleted, onClose } = props;
  const { client, queries } = useWorkspace();
  const tell = useTell();

  async function remove(): Promise<void> {
    try {
      await client.webhooks.delete(webhook.id);
    } finally {
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    }
    tell(`Deleted ${titleOf(webhook)}`);
    queries.setQueryData<Webhook[]>(['webhooks'], (all) => all?.filter(({ id }) => id !== webhook.id));
    onDeleted();
  }

  return (
    <ConfirmWork title={`Delete ${titleOf(webhook)}?`} action="Delete webhook" onConfirm={remove} onClose={onClose}>
      <p>
        The server sends nothing more to this address, and deletes the list of deliveries, also of those that are
        waiting. This cannot be undone. To stop it for a while, pause it instead.
      </p>
      <p class="hook-url">{webhook.url}</p>
    </ConfirmWork>
  );
}
