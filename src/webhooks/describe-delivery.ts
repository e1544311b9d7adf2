// Describes a delivery as the API and the command line show it.

import type { DeliveryDetail } from '../domain/delivery.ts';
import type { LoggedDelivery } from '../domain/webhook-store.ts';
import { toIsoTime } from '../lib/iso-time.ts';
import { toSentMessage } from './signed-message.ts';

/** Returns the API form of a delivery with its attempts. */
export function describeDelivery(webhookId: string, { delivery, change, attempts }: LoggedDelivery): DeliveryDetail {
  const [newest] = attempts;
  return {
    ...delivery,
    ...(newest && { request: toSentMessage(webhookId, change, newest) }),
    history: attempts.map(({ timeMs, durationMs, code, answer, error }) => ({
      time: toIsoTime(timeMs),
      milliseconds: Math.round(durationMs),
      ...(code !== undefined && { code }),
      ...(answer !== undefined && { answer }),
      ...(error !== undefined && { error }),
    })),
  };
}
