// The dialog that adds a webhook.

import { useQueryClient } from '@tanstack/preact-query';
import type { WebhookWithSecret } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { isResponseLost } from '../session/error-text.ts';
import { useWorkspace } from '../session/workspace.ts';
import { FormDialog } from '../shared/form-dialog.tsx';
import { checkWebhook, NEW_WEBHOOK, WEBHOOK_FIELDS, WebhookFields } from './webhook-form.tsx';

export function CreateWebhook({ onCreated, onClose }: { onCreated(made: WebhookWithSecret): void; onClose(): void }) {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(NEW_WEBHOOK);

  async function create(): Promise<void> {
    const { url, name, events, format } = draft;
    try {
      onCreated(
        await client.webhooks.create({ url: url.trim(), events, format, ...(name.trim() && { name: name.trim() }) }),
      );
    } finally {
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    }
  }

  return (
    <FormDialog
      title="Add webhook"
      action="Add webhook"
      fields={WEBHOOK_FIELDS}
      check={() => checkWebhook(draft)}
      onSubmit={create}
      explain={explainLost}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <WebhookFields draft={draft} faults={faults} onChange={setDraft} />
          <p class="help">
            It starts with the next change. The secret that signs its messages is shown once, after you add it.
          </p>
        </>
      )}
    </FormDialog>
  );
}

function explainLost(error: unknown): string | undefined {
  if (!isResponseLost(error)) return undefined;
  return 'No response arrived. Look at the list before you try again: the webhook may exist already. Its secret is then lost, and only rotating gives another.';
}
