// Runs the commands webhook … on the webhooks of a server or of a database.

import type { WebhookOperations } from '../webhooks/webhook-operations.ts';
import { type StoreOptions, withStore } from './choose-store.ts';
import type { CommandContext } from './command-io.ts';

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
