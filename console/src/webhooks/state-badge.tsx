// The state of a webhook or a delivery: an icon, a word and a colour.

import type { Delivery } from 'plant-store/client';
import { Icon } from '../shared/icon.tsx';
import type { WebhookState } from './webhook-state.ts';

const STATES: Record<WebhookState, { tone: string; icon: string; text: string }> = {
  active: { tone: 'ok', icon: 'good', text: 'Active' },
  failing: { tone: 'warn', icon: 'alert', text: 'Failing' },
  paused: { tone: '', icon: 'pause', text: 'Paused' },
  disabled: { tone: 'bad', icon: 'stop', text: 'Disabled' },
};

export function StateBadge({ of }: { of: WebhookState }) {
  const { tone, icon, text } = STATES[of];
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
      {text}
    </span>
  );
}

const DELIVERY_STATES = {
  queued: { tone: '', icon: 'clock', text: 'Queued' },
  waiting: { tone: 'warn', icon: 'clock', text: 'Waiting' },
  delivered: { tone: 'ok', icon: 'check', text: 'Delivered' },
  dead: { tone: 'bad', icon: 'x', text: 'Given up' },
};

/** A delivery without a time for its next attempt is queued behind earlier changes of its plant. */
export function DeliveryBadge({ of: { status, next } }: { of: Delivery }) {
  const { tone, icon, text } = DELIVERY_STATES[status === 'waiting' && next === undefined ? 'queued' : status];
  return (
    <span class={`badge ${tone}`}>
      <Icon name={icon} />
      {text}
    </span>
  );
}
