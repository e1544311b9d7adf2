// The states of a webhook, as the console names them. The API calls both of the last two `disabled`.

import type { Webhook } from 'plant-store/client';
import { DISABLED_BY_USER } from '../../../src/domain/names.ts';

export type WebhookState = 'active' | 'failing' | 'paused' | 'disabled';

/** Returns `paused` if a user disabled the webhook, and `disabled` if the server did. */
export function stateOf({ status, reason }: Webhook): WebhookState {
  return status === 'disabled' && reason === DISABLED_BY_USER ? 'paused' : status;
}
