// The id of a webhook as an argument.

import { UsageError } from '../lib/user-error.ts';

export const WEBHOOK_ID = ['<id>', 'as "webhook list" shows it: whk_…'] as const;

export function requireWebhookId(id: string): string {
  if (/^whk_[0-9A-Za-z]+$/.test(id)) return id;
  throw new UsageError('An id begins with whk_: "webhook list" shows it');
}
