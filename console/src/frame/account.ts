// What the navigation says about the signed-in token and its webhooks.

import type { Scope } from 'plant-store/client';
import { useWebhooks } from '../session/queries.ts';
import { stateOf } from '../webhooks/webhook-state.ts';

/** Number of webhooks that fail or that the server disabled. */
export function useFailing(): number {
  const { data } = useWebhooks();
  return data?.filter((webhook) => ['failing', 'disabled'].includes(stateOf(webhook))).length ?? 0;
}

export function roleOf(can: (scope: Scope) => boolean): string {
  if (can('admin')) return 'Admin';
  if (can('plants:write')) return can('plants:read') ? 'Can edit' : 'Can add only';
  return 'Read only';
}
