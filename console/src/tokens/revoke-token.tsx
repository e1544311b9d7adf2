// The question before a token is revoked.

import { useQueryClient } from '@tanstack/preact-query';
import type { DescribedToken } from 'plant-store/client';
import { useTell } from '../frame/notices.tsx';
import { useWorkspace } from '../session/workspace.ts';
import { ConfirmWork } from '../shared/confirm-work.tsx';
import { Icon } from '../shared/icon.tsx';
import { inSentence } from '../shared/in-sentence.ts';
import { Time } from '../shared/time.tsx';
import { explainLastAdmin } from './token-text.ts';

export function RevokeToken(props: { token: DescribedToken; onRotate?: (() => void) | undefined; onClose(): void }) {
  const { token, onRotate, onClose } = props;
  const { client, self, endSession } = useWorkspace();
  const queries = useQueryClient();
  const tell = useTell();
  const isOwn = token.id === self.id;

  async function revoke(): Promise<void> {
    try {
      await client.tokens.revoke(token.id);
    } finally {
      void queries.invalidateQueries({ queryKey: ['tokens'] });
    }
    if (isOwn) return endSession('You were signed out: you revoked your token.');
    tell(`Revoked ${inSentence(token.name)}`);
    onClose();
  }

  return (
    <ConfirmWork
      title={`Revoke ${inSentence(token.name)}?`}
      action="Revoke token"
      onConfirm={revoke}
      explain={explainLastAdmin}
      onClose={onClose}
    >
      <p>It stops working within a second, on every node. This cannot be undone. The change log keeps its name.</p>
      {isOwn ? (
        <div class="callout warn">
          <Icon name="alert" />
          <span>
            <b>You are signed in with this token.</b> You will be signed out.
          </span>
        </div>
      ) : (
        token.lastUsed && (
          <div class="callout warn">
            <Icon name="alert" />
            <span>
              Last used: <Time at={token.lastUsed} />.{' '}
              {onRotate && (
                <>
                  To replace its secret without an interruption,{' '}
                  <button type="button" class="link" onClick={onRotate}>
                    rotate it instead
                  </button>
                  .
                </>
              )}
            </span>
          </div>
        )
      )}
    </ConfirmWork>
  );
}
