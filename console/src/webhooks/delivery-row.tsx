// One delivery in the list. It opens to its attempts and its message.

import type { Delivery, Webhook } from 'plant-store/client';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { count } from '../shared/numbers.ts';
import { Time } from '../shared/time.tsx';
import { DeliveryDetails } from './delivery-details.tsx';
import { DeliveryBadge } from './state-badge.tsx';
import { eventText, outcomeText } from './webhook-text.ts';

interface Props {
  webhook: Webhook;
  delivery: Delivery;
  isOpen: boolean;
  onToggle(): void;
}

export function DeliveryRow({ webhook, delivery, isOpen, onToggle }: Props) {
  const { can } = useWorkspace();
  if (!can('plants:read')) {
    return (
      <li class="dv">
        <div class="dv-row">
          <Cells of={delivery} />
        </div>
      </li>
    );
  }
  return (
    <li class={isOpen ? 'dv is-expanded' : 'dv'}>
      <button type="button" class="dv-row" aria-expanded={isOpen} onClick={onToggle}>
        <Cells of={delivery} />
        <Icon name="chevD" class="ev-c" />
      </button>
      {isOpen && <DeliveryDetails webhook={webhook} delivery={delivery} />}
    </li>
  );
}

function Cells({ of: delivery }: { of: Delivery }) {
  const { seq, event, plant, attempts, time } = delivery;
  return (
    <>
      <DeliveryBadge of={delivery} />
      <span class="dv-e">
        <span class="mono dv-seq">{seq}</span> {eventText(event)}
      </span>
      <span class="dv-p">
        Plant <span class="mono">{String(plant)}</span>
      </span>
      <span class="dv-a">{outcomeText(delivery)}</span>
      <span class="dv-n">{attempts > 0 && count(attempts, 'attempt')}</span>
      <span class="dv-t">{time && <Time at={time} />}</span>
    </>
  );
}
