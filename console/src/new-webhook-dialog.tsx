// The dialog for a new webhook: its URL and the events to send.

import type { ChangeType, WebhookWithSecret } from 'plant-store/client';
import { Check, FormDialog } from './form-dialog.tsx';
import { useWorkspace } from './workspace.ts';

const EVENTS: { type: ChangeType; means: string }[] = [
  { type: 'plant.created', means: 'Added' },
  { type: 'plant.updated', means: 'Updated' },
  { type: 'plant.deleted', means: 'Deleted' },
];

export function NewWebhookDialog({ onClose, onMade }: { onClose(): void; onMade(webhook: WebhookWithSecret): void }) {
  const { client } = useWorkspace();

  async function submit(form: FormData): Promise<void> {
    const events = form.getAll('event') as ChangeType[];
    onMade(await client.webhooks.create({ url: String(form.get('url')).trim(), events }));
  }

  return (
    <FormDialog title="Add webhook" action="Add webhook" onSubmit={submit} onClose={onClose}>
      <label>
        URL
        <input name="url" type="url" required autocomplete="off" placeholder="https://shop.example.com/plants" />
      </label>
      <fieldset>
        <legend>Send when a plant is</legend>
        {EVENTS.map(({ type, means }) => (
          <Check key={type} name="event" value={type} isChecked={type === 'plant.created'}>
            {means} <span class="faint">{type}</span>
          </Check>
        ))}
      </fieldset>
    </FormDialog>
  );
}
