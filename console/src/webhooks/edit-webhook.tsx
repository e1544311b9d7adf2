// The dialog that changes the address, name, changes and format of a webhook.

import { useQueryClient } from '@tanstack/preact-query';
import type { Webhook } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { useWorkspace } from '../session/workspace.ts';
import { FormDialog } from '../shared/form-dialog.tsx';
import { checkWebhook, WEBHOOK_FIELDS, type WebhookDraft, WebhookFields } from './webhook-form.tsx';
import { titleOf } from './webhook-text.ts';

export function EditWebhook({ webhook, onClose }: { webhook: Webhook; onClose(): void }) {
  const { client } = useWorkspace();
  const queries = useQueryClient();
  const tell = useTell();
  const { url, name = '', events, format } = webhook;
  const [draft, setDraft] = useState<WebhookDraft>({ url, name, events, format });

  async function save(): Promise<void> {
    const patch = patchOf(webhook, draft);
    if (Object.keys(patch).length > 0) {
      const saved = await client.webhooks.update(webhook.id, patch);
      tell(`Saved ${titleOf(saved)}`);
      void queries.invalidateQueries({ queryKey: ['webhooks'] });
    }
    onClose();
  }

  return (
    <FormDialog
      title="Edit webhook"
      action="Save webhook"
      fields={WEBHOOK_FIELDS}
      check={() => checkWebhook(draft)}
      onSubmit={save}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <WebhookFields draft={draft} faults={faults} onChange={setDraft} />
          <p class="help">A new address makes all waiting deliveries due at once. Its secret stays the same.</p>
        </>
      )}
    </FormDialog>
  );
}

/** Returns only the fields that differ. */
function patchOf(webhook: Webhook, { url, name, events, format }: WebhookDraft) {
  const isSame = events.length === webhook.events.length && events.every((type) => webhook.events.includes(type));
  return {
    ...(url.trim() !== webhook.url && { url: url.trim() }),
    ...(name.trim() !== (webhook.name ?? '') && { name: name.trim() || null }),
    ...(!isSame && { events }),
    ...(format !== webhook.format && { format }),
  };
}
