// Runs the commands webhook … on the webhooks of a server or of a database.

import { OWN_COMMAND } from '../config/command-name.ts';
import { UsageError } from '../lib/user-error.ts';
import type { WebhookOperations } from '../webhooks/webhook-operations.ts';
import { type StoreOptions, withStore } from './choose-store.ts';
import type { CommandContext } from './command-io.ts';

export const WEBHOOK_ID = ['<id>', 'id of the webhook, whk_… (see "webhook list")'] as const;

/** Work on webhooks. `sender` says who sends a test message. */
type WebhookWork = (webhooks: WebhookOperations, sender: string) => Promise<void>;

export async function withWebhooks(context: CommandContext, options: StoreOptions, work: WebhookWork): Promise<void> {
  await withStore(context, options, {
    onServer: ({ webhooks }) => work(webhooks, 'by the server'),
    async onDatabase(store) {
      const [{ createReceiverClient }, { createTargetGuard }, { createWebhookOperations }] = await Promise.all([
        import('../webhooks/receiver-client.ts'),
        import('../webhooks/target-guard.ts'),
        import('../webhooks/webhook-operations.ts'),
      ]);
      const targetGuard = createTargetGuard({ allowPrivate: context.config.allowPrivateWebhooks });
      const receiverClient = createReceiverClient(targetGuard, (error) => {
        throw error;
      });
      const webhooks = createWebhookOperations(store, { targetGuard, receiverClient, onChange() {} }, Date.now);
      await work(webhooks, 'from this terminal, with its settings').finally(() => receiverClient.close());
    },
  });
}

/** Like `withWebhooks`, for work on the webhook with this id. */
export async function withWebhook(
  context: CommandContext,
  id: string,
  options: StoreOptions,
  work: WebhookWork,
): Promise<void> {
  if (/^whk_[0-9A-Za-z]+$/.test(id)) return withWebhooks(context, options, work);
  throw new UsageError(`A webhook id starts with whk_. "${OWN_COMMAND} webhook list" shows the ids.`);
}
