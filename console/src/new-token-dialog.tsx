// What a new token may do, how often and for how long.

import type { Scope, TokenWithSecret } from 'plant-store/client';
import { Check, FormDialog } from './form-dialog.tsx';
import { useWorkspace } from './workspace.ts';

const SCOPES: { scope: Scope; means: string }[] = [
  { scope: 'plants:read', means: 'read plants and changes' },
  { scope: 'plants:write', means: 'add, change and delete plants' },
  { scope: 'admin', means: 'tokens, webhooks and figures' },
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
    <FormDialog title="Make a token" action="Make it" onSubmit={submit} onClose={onClose}>
      <label>
        Who will use it
        <input name="name" required maxLength={100} autocomplete="off" placeholder="shop" />
      </label>
      <fieldset>
        <legend>What it may do</legend>
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
        At most so many requests <span class="faint">(optional)</span>
        <input name="rate" autocomplete="off" placeholder="100/s" />
      </label>
    </FormDialog>
  );
}
