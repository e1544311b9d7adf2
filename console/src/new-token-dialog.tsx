// What a new token may do, how often and for how long.

import type { Scope, TokenWithSecret } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

const SCOPES: { scope: Scope; means: string }[] = [
  { scope: 'plants:read', means: 'read plants and changes' },
  { scope: 'plants:write', means: 'add, change and delete plants' },
  { scope: 'admin', means: 'tokens, webhooks and figures' },
];

export function NewTokenDialog({ onClose, onMade }: { onClose(): void; onMade(token: TokenWithSecret): void }) {
  const workspace = useWorkspace();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name)).trim();
    setBusy(true);
    try {
      const token = await workspace.client.tokens.create({
        name: text('name'),
        scopes: form.getAll('scope') as Scope[],
        ...(text('expires') !== '' && { expires: text('expires') }),
        ...(text('rate') !== '' && { rate: text('rate') }),
      });
      onMade(token);
    } catch (error) {
      if (!endsSession(error, workspace)) setProblem((error as Error).message);
      setBusy(false);
    }
  }

  return (
    <Dialog title="Make a token" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Who will use it
          <input name="name" required maxLength={100} autocomplete="off" placeholder="shop" />
        </label>
        <fieldset>
          <legend>What it may do</legend>
          {SCOPES.filter(({ scope }) => workspace.can(scope)).map(({ scope, means }) => (
            <label key={scope} class="check">
              <input type="checkbox" name="scope" value={scope} defaultChecked={scope !== 'admin'} />
              <span>
                {scope} <span class="faint">{means}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <label>
          Expires after <span class="faint">(optional)</span>
          <input name="expires" autocomplete="off" placeholder="90d" />
        </label>
        <label>
          At most so many requests <span class="faint">(optional)</span>
          <input name="rate" autocomplete="off" placeholder="100/s" />
        </label>
        <p class="problem" role="alert">
          {problem}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Make it
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
