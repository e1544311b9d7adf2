// The dialog for a new token: name, scopes, expiry and rate limit.

import type { Scope, TokenWithSecret } from 'plant-store/client';
import { Check, FormDialog } from './form-dialog.tsx';
import { useWorkspace } from './workspace.ts';

const SCOPES: { scope: Scope; means: string }[] = [
  { scope: 'plants:read', means: 'List, search and export plants; follow the change log' },
  { scope: 'plants:write', means: 'Add, change, delete and import plants' },
  { scope: 'admin', means: 'Manage tokens and webhooks; read metrics' },
];

export function NewTokenDialog({ onClose, onMade }: { onClose(): void; onMade(token: TokenWithSecret): void }) {
  const { client, can } = useWorkspace();

  async function submit(form: FormData): Promise<void> {
    const text = (name: string) => String(form.get(name)).trim();
    const token = await client.tokens.create({
      name: text('name'),
      scopes: form.getAll('scope') as Scope[],
      ...(text('expires') !== '' && { expires: text('expires') }),
      ...(text('rate') !== '' && { rate: text('rate') }),
    });
    onMade(token);
  }

  return (
    <FormDialog title="Create token" action="Create token" onSubmit={submit} onClose={onClose}>
      <label>
        Name <span class="faint">(the client that uses it)</span>
        <input name="name" required maxLength={100} autocomplete="off" placeholder="shop" />
      </label>
      <fieldset>
        <legend>Scopes</legend>
        {SCOPES.filter(({ scope }) => can(scope)).map(({ scope, means }) => (
          <Check key={scope} name="scope" value={scope} isChecked={scope !== 'admin'}>
            {scope} <span class="faint">{means}</span>
          </Check>
        ))}
      </fieldset>
      <label>
        Expires after <span class="faint">(optional)</span>
        <input name="expires" autocomplete="off" placeholder="90d" />
      </label>
      <label>
        Rate limit <span class="faint">(optional)</span>
        <input name="rate" autocomplete="off" placeholder="100/s" />
      </label>
    </FormDialog>
  );
}
