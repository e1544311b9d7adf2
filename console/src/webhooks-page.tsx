// The page for adding, testing, monitoring, enabling and removing webhooks.

import type { Webhook } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { Deliveries } from './deliveries.tsx';
import { Confirm, SecretDialog } from './dialog.tsx';
import { NewWebhookDialog } from './new-webhook-dialog.tsx';
import { Problem, Time } from './show.tsx';
import { useToasts } from './toasts.tsx';
import { useLoaded } from './use-loaded.ts';
import { endsSession, useWorkspace } from './workspace.ts';

type Open = { kind: 'new' } | { kind: 'secret'; secret: string } | { kind: 'deliveries' | 'remove'; webhook: Webhook };

export function WebhooksPage() {
  const workspace = useWorkspace();
  const { client, can } = workspace;
  const mayRead = can('plants:read'); // The API requires this scope to add or enable a webhook.
  const tell = useToasts();
  const { value: webhooks, problem, reload } = useLoaded(() => client.webhooks.list());
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);

  async function act(work: () => Promise<string>): Promise<void> {
    try {
      tell(await work());
    } catch (error) {
      if (!endsSession(error, workspace)) tell((error as Error).message, { isProblem: true });
    }
    reload();
  }

  const test = ({ id, url }: Webhook) =>
    act(async () => {
      tell(`Sending a test message to ${url}…`);
      const { delivered, code, error, milliseconds } = await client.webhooks.test(id);
      if (delivered) return `Test delivered. The receiver responded with status ${code} after ${milliseconds} ms.`;
      throw new Error(`Test not delivered: ${error ?? `the receiver responded with status ${code}`}`);
    });
  const remove = ({ id, url }: Webhook) =>
    act(async () => {
      close();
      await client.webhooks.delete(id);
      return `Webhook removed: ${url}`;
    });
  const enable = ({ id }: Webhook) =>
    act(async () => {
      await client.webhooks.enable(id);
      return 'Webhook enabled. Pending changes will be delivered.';
    });

  return (
    <section class="page" aria-labelledby="webhooks-title">
      <div class="toolbar">
        <h1 id="webhooks-title">Webhooks</h1>
        {mayRead && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: 'new' })}>
            Add webhook
          </button>
        )}
      </div>
      <Problem text={problem} />
      {webhooks?.length === 0 && <p class="empty">No webhooks yet. A webhook sends changes to another program.</p>}
      <ul class="cards webhooks">
        {webhooks?.map((webhook) => (
          <li key={webhook.id} class="card">
            <h2>{webhook.url}</h2>
            <p>
              <span class={`state ${webhook.status}`}>{webhook.status}</span>{' '}
              {webhook.since && (
                <span class="faint">
                  since <Time at={webhook.since} />
                  {webhook.reason && `: ${webhook.reason}`}
                </span>
              )}
            </p>
            <p class="faint">
              {webhook.events.join(', ')} · <span class="id">{webhook.id}</span> · processed up to change{' '}
              {webhook.position}
            </p>
            <footer>
              <button type="button" onClick={() => void test(webhook)}>
                Send test
              </button>
              <button type="button" onClick={() => setOpen({ kind: 'deliveries', webhook })}>
                Show deliveries
              </button>
              {webhook.status === 'disabled' && mayRead && (
                <button type="button" onClick={() => void enable(webhook)}>
                  Enable
                </button>
              )}
              <button type="button" onClick={() => setOpen({ kind: 'remove', webhook })}>
                Remove
              </button>
            </footer>
          </li>
        ))}
      </ul>
      {open?.kind === 'new' && (
        <NewWebhookDialog
          onClose={close}
          onMade={({ secret }) => {
            setOpen({ kind: 'secret', secret });
            reload();
          }}
        />
      )}
      {open?.kind === 'secret' && (
        <SecretDialog
          title="Webhook added"
          secret={open.secret}
          hint="Copy the secret to the receiver, which verifies deliveries with it. The server cannot show it again."
          onClose={close}
        />
      )}
      {open?.kind === 'deliveries' && <Deliveries webhook={open.webhook} onClose={close} />}
      {open?.kind === 'remove' && (
        <Confirm
          title="Remove this webhook?"
          text={`The server stops sending changes to ${open.webhook.url} and deletes its deliveries. This cannot be undone.`}
          action="Remove webhook"
          onConfirm={() => void remove(open.webhook)}
          onClose={close}
        />
      )}
    </section>
  );
}
