// The dialog that creates a token.

import { useQueryClient } from '@tanstack/preact-query';
import type { TokenWithSecret } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { FormDialog } from '../shared/form-dialog.tsx';
import { toApi } from './expiry.ts';
import { checkDraft, newDraft, TOKEN_FIELDS, TokenFields } from './token-fields.tsx';
import { explainLostSecret } from './token-text.ts';

export function CreateToken({ onCreated, onClose }: { onCreated(token: TokenWithSecret): void; onClose(): void }) {
  const { client, can } = useWorkspace();
  const queries = useQueryClient();
  const [draft, setDraft] = useState(() => newDraft(can));

  async function create(): Promise<void> {
    const { name, scopes, rate, expiry } = draft;
    const expires = toApi(expiry) ?? undefined;
    try {
      onCreated(
        await client.tokens.create({ name: name.trim(), scopes, ...(expires && { expires }), ...(rate && { rate }) }),
      );
    } finally {
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    }
  }

  return (
    <FormDialog
      title="Create token"
      size="mid"
      action="Create token"
      fields={TOKEN_FIELDS}
      check={() => checkDraft(draft)}
      onSubmit={create}
      explain={explainLostSecret}
      onClose={onClose}
    >
      {(faults) => <TokenFields draft={draft} faults={faults} onChange={setDraft} />}
    </FormDialog>
  );
}
