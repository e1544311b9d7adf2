// The dialog that replaces the secret of a token.

import { useQueryClient } from '@tanstack/preact-query';
import type { DescribedToken, TokenWithSecret } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useWorkspace } from '../session/workspace.ts';
import { Group, RadioSegments } from '../shared/choices.tsx';
import { FormDialog } from '../shared/form-dialog.tsx';
import { inSentence } from '../shared/in-sentence.ts';
import { explainLostSecret } from './token-text.ts';

const GRACES = [
  { value: '24h', text: '24 hours' },
  { value: '1h', text: '1 hour' },
  { value: '0', text: 'Not at all' },
] as const;

type Grace = (typeof GRACES)[number]['value'];

const HELP: Record<Grace, string> = {
  '24h': 'Both secrets work for 24 hours. Give the program the new one within this time.',
  '1h': 'Both secrets work for an hour. Give the program the new one within this time.',
  '0': 'The old secret stops working within a second. The program fails until it has the new one.',
};

export function RotateToken(props: {
  token: DescribedToken;
  onRotated(token: TokenWithSecret): void;
  onClose(): void;
}) {
  const { token, onRotated, onClose } = props;
  const { client, self } = useWorkspace();
  const queries = useQueryClient();
  const [grace, setGrace] = useState<Grace>('24h');
  const isOwn = token.id === self.id;

  async function rotate(): Promise<void> {
    try {
      onRotated(await client.tokens.rotate(token.id, { grace }));
    } finally {
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    }
  }

  return (
    <FormDialog
      title={`Rotate ${inSentence(token.name)}`}
      action="Rotate secret"
      onSubmit={rotate}
      explain={explainLostSecret}
      onClose={onClose}
    >
      {() => (
        <>
          <p>Creates a new secret. The name, the rights and the limits stay as they are.</p>
          {isOwn && (
            <p>
              You are signed in with the old secret. Sign in with the new one before the old one ends, or you are signed
              out.
            </p>
          )}
          <Group title="The old secret still works for" help={HELP[grace]}>
            <RadioSegments<Grace>
              value={grace}
              // At once would end the session before the user can copy the new secret.
              options={GRACES.filter(({ value }) => value !== '0' || !isOwn)}
              onChange={setGrace}
            />
          </Group>
        </>
      )}
    </FormDialog>
  );
}
