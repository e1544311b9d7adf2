// The newest deliveries as a strip: one bar for each, the newest at the right.

import type { Delivery } from 'plant-store/client';
import { count, number } from '../shared/numbers.ts';
import { RECENT } from './use-progress.ts';

type Kind = 'delivered' | 'repeated' | 'dead' | 'waiting';

const WORDS: Record<Kind, string> = {
  delivered: 'delivered',
  repeated: 'delivered after a retry',
  dead: 'given up',
  waiting: 'waiting',
};

export function DeliveryStrip({ of }: { of: Delivery[] }) {
  const kinds = of.map(kindOf);
  const text = (Object.keys(WORDS) as Kind[])
    .map((kind) => ({ kind, times: kinds.filter((other) => other === kind).length }))
    .filter(({ times }) => times > 0)
    .map(({ kind, times }) => `${number(times)} ${WORDS[kind]}`)
    .join(', ');
  const title = of.length === 1 ? 'Last delivery' : `Last ${count(of.length, 'delivery', 'deliveries')}`;
  return (
    <div class="strip-box">
      <div class="strip-h">
        <span>{title}</span>
        <span class="sub">{text}</span>
      </div>
      <svg class="strip" viewBox="0 0 480 24" preserveAspectRatio="none" role="img" aria-label={`${title}: ${text}`}>
        {Array.from({ length: RECENT - of.length }, (_, index) => (
          <rect key={index} class="none" x={index * 10 + 1} y={20} width={7} height={4} rx={1} />
        ))}
        {kinds.map((kind, index) => (
          <rect
            key={index}
            class={CLASSES[kind]}
            x={(RECENT - 1 - index) * 10 + 1}
            y={kind === 'waiting' ? 12 : 0}
            width={7}
            height={kind === 'waiting' ? 12 : 24}
            rx={1}
          />
        ))}
      </svg>
    </div>
  );
}

const CLASSES: Record<Kind, string> = { delivered: 'd', repeated: 'r', dead: 'f', waiting: 'w' };

function kindOf({ status, attempts }: Delivery): Kind {
  return status === 'delivered' && attempts > 1 ? 'repeated' : status;
}
