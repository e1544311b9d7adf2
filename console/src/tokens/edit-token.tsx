// The dialog that changes a token. It warns before the user loses access of their own.

import { useQueryClient } from '@tanstack/preact-query';
import type { DescribedToken, Scope } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { useWorkspace } from '../session/workspace.ts';
import { FormDialog } from '../shared/form-dialog.tsx';
import { Icon } from '../shared/icon.tsx';
import { inSentence } from '../shared/in-sentence.ts';
import { endsAtMs, toApi } from './expiry.ts';
import { checkDraft, draftOf, TOKEN_FIELDS, type TokenDraft, TokenFields } from './token-fields.tsx';
import { explainLastAdmin } from './token-text.ts';

/** Time after which every node applies a change of a token. */
const APPLIED_MS = 1000;

export function EditToken({ token, onClose }: { token: DescribedToken; onClose(): void }) {
  const { client, self } = useWorkspace();
  const queries = useQueryClient();
  const tell = useTell();
  const [draft, setDraft] = useState(() => draftOf(token));
  const loss = token.id === self.id ? lossOf(token, draft) : undefined;

  async function save(): Promise<void> {
    const patch = patchOf(token, draft);
    if (Object.keys(patch).length > 0) {
      const { name } = await client.tokens.update(token.id, patch);
      if (token.id === self.id && (patch.scopes || patch.name)) {
        await new Promise((applied) => setTimeout(applied, APPLIED_MS));
        return location.reload(); // The session keeps the name and the scopes.
      }
      tell(`Saved ${inSentence(name)}`);
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    }
    onClose();
  }

  return (
    <FormDialog
      title="Edit token"
      size="mid"
      action={loss ? 'Save and lose this access' : 'Save token'}
      fields={TOKEN_FIELDS}
      check={() => checkDraft(draft)}
      onSubmit={save}
      explain={explainLastAdmin}
      onClose={onClose}
    >
      {(faults) => (
        <>
          <TokenFields draft={draft} faults={faults} kept={token.expires} onChange={setDraft} />
          <div role="alert">
            {loss && (
              <div class="callout warn">
                <Icon name="alert" />
                <span>
                  <b>You are signed in with this token.</b> {loss}
                </span>
              </div>
            )}
          </div>
        </>
      )}
    </FormDialog>
  );
}

/** Returns only the fields that differ. */
function patchOf(token: DescribedToken, { name, scopes, rate, expiry }: TokenDraft) {
  const expires = toApi(expiry);
  const isSame = scopes.length === token.scopes.length && scopes.every((scope) => token.scopes.includes(scope));
  const isExpirySame = expires === undefined || (expires === null && token.expires === undefined);
  return {
    ...(name.trim() !== token.name && { name: name.trim() }),
    ...(!isSame && { scopes }),
    ...(rate !== token.rate && { rate: rate ?? null }),
    ...(!isExpirySame && { expires }),
  };
}

const LOSSES: Record<Scope, string> = {
  admin: 'Without Admin, you can no longer manage tokens and webhooks, nor undo this.',
  'plants:write': 'Without Write, you can no longer change plants.',
  'plants:read': 'Without Read, you can no longer see plants.',
};

/** Returns what the user loses with this change of their own token. */
function lossOf(token: DescribedToken, { scopes, expiry }: TokenDraft): string | undefined {
  const lost = token.scopes.filter((scope) => !scopes.includes(scope)).map((scope) => LOSSES[scope]);
  const nowMs = Date.now();
  const [beforeMs, afterMs] = [token.expires && Date.parse(token.expires), endsAtMs(expiry, token.expires, nowMs)];
  if (afterMs && (!beforeMs || afterMs < beforeMs)) lost.push('You are signed out when it expires.');
  return lost.length > 0 ? lost.reverse().join(' ') : undefined;
}
