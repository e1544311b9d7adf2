// The secret of a new or rotated webhook, with how a receiver checks the signature.

import type { WebhookWithSecret } from 'plant-store/client';
import { Code } from '../shared/copy.tsx';
import { SecretDialog } from '../shared/secret.tsx';
import { titleOf } from './webhook-text.ts';

const VERIFY = `import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
webhook.verify(body, request.headers, { jsonParse: false });`;

export function WebhookSecret(props: { webhook: WebhookWithSecret; isNew: boolean; onClose(): void }) {
  const { webhook, isNew, onClose } = props;
  const title = titleOf(webhook);
  return (
    <SecretDialog
      title={isNew ? `Webhook added: ${title}` : `New secret of ${title}`}
      of={`the webhook ${title}`}
      secret={webhook.secret}
      warning="It is shown once. The receiver needs it to check that messages come from this server."
      onClose={onClose}
    >
      {!isNew && (
        <p>
          For 24 hours, each message is signed with the old and the new secret. Change the receiver within this time.
        </p>
      )}
      <section class="sec flush" aria-label="Check the signature">
        <div class="sec-head">
          <h3>Check the signature</h3>
        </div>
        <p class="help">
          Messages follow{' '}
          <a href="https://www.standardwebhooks.com" target="_blank" rel="noreferrer">
            Standard Webhooks
          </a>
          , which has libraries for many languages. In JavaScript:
        </p>
        <Code text={VERIFY} label="JavaScript" />
      </section>
    </SecretDialog>
  );
}
