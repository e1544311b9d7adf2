// The name of a webhook, or the host of its receiver.

import type { Webhook } from 'plant-store/client';

export function nameOfWebhook({ name, url }: Webhook): string {
  return name ?? new URL(url).host;
}
