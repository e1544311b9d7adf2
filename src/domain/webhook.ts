// Webhooks, which send changes to receivers: the requests that add or change one, a webhook in a response, and a webhook
// in the store.

import { z } from 'zod';
import { Seq } from './change.ts';
import { CHANGE_TYPES, type ChangeType, WEBHOOK_FORMATS, WEBHOOK_STATUSES, type WebhookFormat } from './names.ts';
import { Time } from './time.ts';
import { WantedToken } from './token.ts';
import { mintId } from './token-secret.ts';
import { strictObjectError } from './validate.ts';

export const MAX_URL_CHARS = 2000;

const Url = z.string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'must be a string') }).meta({
  format: 'uri',
  maxLength: MAX_URL_CHARS,
  examples: ['https://shop.example/hooks/plants'],
  description:
    'URL to which the server sends changes with POST. It must use `https` and resolve to a public address, unless the operator allows private addresses.',
});
const EVENTS_EXAMPLE = ['plant.created', 'plant.updated'];

/** Events of a webhook that names none. The published API sends its webhook when a plant was added. */
export const DEFAULT_EVENTS: ChangeType[] = ['plant.created'];

const Events = z
  .array(z.enum(CHANGE_TYPES, { error: `must be one of ${CHANGE_TYPES.join(', ')}` }), { error: 'must be an array' })
  .min(1, { error: 'must name at least one event' });
const FORMAT =
  'Format of the messages. `plant`: the body is the plant, as published. `event`: the body is an object with `type`, `timestamp` and `data`, so that the signature covers the type of the change.';
const Format = z.enum(WEBHOOK_FORMATS, { error: `must be ${WEBHOOK_FORMATS.join(' or ')}` });
const NAME = WantedToken.shape.name; // the name of a webhook has the same form as that of a token
const Name = NAME.meta({ ...NAME.meta(), description: 'A name for the webhook, such as the name of its receiver' });

export const NewWebhook = z
  .strictObject(
    {
      url: Url,
      events: Events.optional().meta({
        description: 'Types of changes that the webhook sends',
        default: DEFAULT_EVENTS,
        examples: [EVENTS_EXAMPLE],
      }),
      format: Format.optional().meta({ description: FORMAT, default: 'plant', examples: ['plant'] }),
      name: Name.optional(),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'NewWebhook', description: 'The receiver of the new webhook, and the changes that it gets' });
export type NewWebhook = z.output<typeof NewWebhook>;

export const WebhookPatch = z
  .strictObject(
    {
      url: Url.optional(),
      events: Events.optional().meta({
        description: 'Types of changes that the webhook sends. They apply to all changes after `position`.',
        examples: [EVENTS_EXAMPLE],
      }),
      format: Format.optional().meta({ description: FORMAT, examples: ['event'] }),
      name: Name.nullable()
        .optional()
        .meta({ description: 'New name of the webhook. `null` removes the name.', examples: ['Stock list'] }),
      enabled: z
        .boolean({ error: 'must be true or false' })
        .optional()
        .meta({
          description: '`false` disables the webhook. `true` enables it, and delivery resumes at `position`.',
          examples: [true],
        }),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'WebhookPatch', description: 'The fields of a webhook that change' });
export type WebhookPatch = z.output<typeof WebhookPatch>;

const WEBHOOK = {
  id: z.string().meta({ description: 'Id of the webhook', examples: ['whk_3HqL0aYbT5nR'] }),
  url: Url,
  events: z
    .array(z.enum(CHANGE_TYPES))
    .meta({ description: 'Types of changes that the webhook sends', examples: [EVENTS_EXAMPLE] }),
  format: z.enum(WEBHOOK_FORMATS).meta({ description: FORMAT, examples: ['plant'] }),
  name: z
    .string()
    .optional()
    .meta({ description: 'Name of the webhook, if it has one', examples: ['Stock list'] }),
  created: Time.meta({ description: 'Time at which the webhook was created' }),
  status: z.enum(WEBHOOK_STATUSES).meta({
    description:
      '`active`: deliveries succeed. `failing`: every attempt since the time in `since` has failed. `disabled`: the server sends nothing, and changes stay in the change log until you enable the webhook.',
    examples: ['failing'],
  }),
  since: Time.optional().meta({ description: 'Time at which the webhook started to fail or was disabled' }),
  reason: z
    .string()
    .optional()
    .meta({ description: 'The reason why the webhook fails or was disabled', examples: ['The receiver returned 503'] }),
  rotating: Time.optional().meta({
    description: 'Present after a rotation: the time until which the old secret also signs deliveries',
    examples: ['2026-11-18T09:30:00.000Z'],
  }),
  position: Seq.meta({
    description: 'Every change up to this number is either delivered or listed as a delivery',
  }),
};

/** A webhook as the API returns it, without its secret. */
export const Webhook = z.object(WEBHOOK).meta({ id: 'Webhook', description: 'A webhook without its secret' });
export type Webhook = z.output<typeof Webhook>;

export const WebhookWithSecret = z
  .object({
    ...WEBHOOK,
    secret: z.string().meta({
      description: 'The secret that signs deliveries. It is shown only in this response.',
      examples: ['whsec_RVhBTVBMRUVYQU1QTEVFWEFNUExFRVhBTVBMRQ=='],
    }),
  })
  .meta({ id: 'WebhookWithSecret', description: 'A webhook with its secret' });
export type WebhookWithSecret = z.output<typeof WebhookWithSecret>;

/** A webhook as the store keeps it. */
export interface StoredWebhook {
  id: string;
  url: string;
  events: ChangeType[];
  format: WebhookFormat;
  name: string | null;
  secret: string;
  /** The replaced secret, which also signs until `untilMs`. */
  oldSecret: { secret: string; untilMs: number } | null;
  createdMs: number;
  /** Changes up to this one are delivered, or have a delivery record. */
  position: number;
  /** Changes up to `to` are sent again; then delivery resumes after `resume`. */
  replay: { to: number; resume: number } | null;
  failing: { sinceMs: number; reason: string } | null;
  disabledMs: number | null;
  /** Increases each time a user or another node changes the position or the state. */
  epoch: number;
  /** Increases each time a user requests a retry. */
  retries: number;
}

/** Time for which a replaced secret still signs. */
export const OLD_SECRET_MS = 24 * 3_600_000;

export function mintWebhookId(): string {
  return mintId('whk');
}

export function describeWebhook(webhook: StoredWebhook, nowMs: number): Webhook {
  const { id, url, events, format, name, createdMs, position, failing, disabledMs, oldSecret } = webhook;
  const sinceMs = disabledMs ?? failing?.sinceMs;
  return {
    id,
    url,
    events,
    format,
    ...(name !== null && { name }),
    created: new Date(createdMs).toISOString(),
    status: disabledMs !== null ? 'disabled' : failing ? 'failing' : 'active',
    ...(sinceMs !== undefined && { since: new Date(sinceMs).toISOString() }),
    ...(failing && { reason: failing.reason }),
    ...(oldSecret && nowMs < oldSecret.untilMs && { rotating: new Date(oldSecret.untilMs).toISOString() }),
    position,
  };
}
