// Where changes shall be sent to, and which.

import type { ChangeType, WebhookWithSecret } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

const EVENTS: { type: ChangeType; means: string }[] = [
  { type: 'plant.created', means: 'a plant was added' },
  { type: 'plant.updated', means: 'a plant was changed' },
  { type: 'plant.deleted', means: 'a plant was deleted' },
];

export function NewWebhookDialog({ onClose, onMade }: { onClose(): void; onMade(webhook: WebhookWithSecret): void }) {
  const workspace = useWorkspace();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    setBusy(true);
    try {
      const events = form.getAll('event') as ChangeType[];
      onMade(await workspace.client.webhooks.create({ url: String(form.get('url')).trim(), events }));
    } catch (error) {
      if (!endsSession(error, workspace)) setProblem((error as Error).message);
      setBusy(false);
    }
  }

  return (
    <Dialog title="Add a webhook" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Address of the receiver
          <input name="url" type="url" required autocomplete="off" placeholder="https://shop.example.com/plants" />
        </label>
        <fieldset>
          <legend>It is told when</legend>
          {EVENTS.map(({ type, means }) => (
            <label key={type} class="check">
              <input type="checkbox" name="event" value={type} defaultChecked={type === 'plant.created'} />
              <span>
                {means} <span class="faint">{type}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <p class="problem" role="alert">
          {problem}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Add it
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
