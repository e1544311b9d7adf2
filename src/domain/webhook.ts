// Webhooks, which send changes to receivers, their deliveries, and the stores of both.

import { z } from 'zod';
import type { Attempt } from './attempt-log.ts';
import { Change } from './change.ts';
import { PlantStoreError } from './errors.ts';
import {
  CHANGE_TYPES,
  type ChangeType,
  DELIVERY_STATUSES,
  type DeliveryStatus,
  WEBHOOK_FORMATS,
  WEBHOOK_STATUSES,
  type WebhookFormat,
} from './names.ts';
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
const Code = z
  .int()
  .min(100)
  .max(999)
  .meta({ examples: [503] });
const Seq = z.number().meta({ type: 'integer', format: 'int64', examples: [1042] });
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

const DELIVERY = {
  seq: Seq.meta({ description: 'Number of the change' }),
  event: z.enum(CHANGE_TYPES).meta({ description: 'Type of the change', examples: ['plant.created'] }),
  plant: z.bigint().meta({
    type: 'integer',
    format: 'int64',
    description: 'Id of the plant. It has 64 bits, more than a number in JavaScript.',
    examples: [7],
  }),
  status: z.enum(DELIVERY_STATUSES).meta({
    description:
      '`waiting`: another attempt is pending. `delivered`: the receiver accepted the change. `dead`: all attempts have failed and the server does not retry.',
    examples: ['waiting'],
  }),
  attempts: z.int().meta({
    type: 'integer',
    minimum: 0,
    maximum: 10,
    description: 'Number of attempts so far',
    examples: [2],
  }),
  time: Time.optional().meta({ description: 'Time of the last attempt' }),
  next: Time.optional().meta({
    description:
      'Time of the next attempt. Absent if the next attempt follows as soon as earlier changes of the same plant are done.',
    examples: ['2026-11-17T09:35:00.000Z'],
  }),
  code: Code.optional().meta({ description: "HTTP status of the receiver's last response" }),
  answer: z
    .string()
    .optional()
    .meta({
      description: "First 1 KiB of the receiver's last response. Only shown to tokens with the scope `plants:read`.",
      examples: ['Service Unavailable'],
    }),
  error: z
    .string()
    .optional()
    .meta({
      description: 'The reason why the last attempt failed',
      examples: ['The receiver returned 503'],
    }),
};

export const Delivery = z
  .object(DELIVERY)
  .meta({ id: 'Delivery', description: 'The delivery of one change to one webhook' });
export type Delivery = z.output<typeof Delivery>;

const EventType = z
  .enum([...CHANGE_TYPES, 'webhook.test'])
  .meta({ description: 'Type of the change, or `webhook.test` for a test', examples: ['plant.created'] });

/** The body of a message in the format `event`. */
export const WebhookEvent = z
  .object({
    type: EventType,
    timestamp: Time.meta({ description: 'Time of the change' }),
    data: Change.extend({ type: EventType }).meta({
      description: 'The change. In a test, its number is 0 and it is not in the change log.',
    }),
  })
  .meta({ id: 'WebhookEvent', description: 'The body of a message in the format `event`' });

const Milliseconds = z.int().meta({ minimum: 0, maximum: 2147483647, examples: [87] });

export const DeliveryDetail = z
  .object({
    ...DELIVERY,
    request: z
      .object({
        headers: z
          .record(z.string(), z.string())
          .meta({ description: 'Headers of the request', examples: [{ 'webhook-id': 'whk_3HqL0aYbT5nR.1042' }] }),
        body: z.string().meta({
          description: 'Body of the request, exactly as the signature covers it',
          examples: ['{"id":7,"name":"Monstera deliciosa"}'],
        }),
      })
      .optional()
      .meta({
        description: 'The request of the first attempt in `history`. Absent if the server has kept no attempt.',
      }),
    history: z
      .array(
        z.object({
          time: Time.meta({ description: 'Time at which the server sent the request' }),
          milliseconds: Milliseconds.meta({
            ...Milliseconds.meta(),
            description: 'Duration of the attempt in milliseconds',
          }),
          code: Code.optional().meta({ description: "HTTP status of the receiver's response" }),
          answer: z
            .string()
            .optional()
            .meta({ description: "First 1 KiB of the receiver's response", examples: ['Service Unavailable'] }),
          error: z
            .string()
            .optional()
            .meta({ description: 'The reason why the attempt failed', examples: ['The receiver returned 503'] }),
        }),
      )
      .meta({ description: 'The newest attempts that the server has kept, newest first, at most 10' }),
  })
  .meta({ id: 'DeliveryDetail', description: 'A delivery with its request and its attempts' });
export type DeliveryDetail = z.output<typeof DeliveryDetail>;

export const TestResult = z
  .object({
    delivered: z
      .boolean()
      .meta({ description: 'True if the receiver responded with a 2xx status in time', examples: [false] }),
    code: Code.optional().meta({ description: "HTTP status of the receiver's response" }),
    answer: z
      .string()
      .optional()
      .meta({ description: "First 1 KiB of the receiver's response", examples: ['Service Unavailable'] }),
    error: z
      .string()
      .optional()
      .meta({
        description: 'The reason why the test failed',
        examples: ['The receiver returned 503'],
      }),
    milliseconds: Milliseconds.meta({ ...Milliseconds.meta(), description: 'Duration of the test in milliseconds' }),
  })
  .meta({ id: 'TestResult', description: 'The result of a test message' });
export type TestResult = z.output<typeof TestResult>;

const GivenSeq = z
  .custom<number>((seq) => Number.isSafeInteger(seq) && (seq as number) >= 1, {
    error: ({ input }) => (input === undefined ? 'is missing' : 'must be the number of a change'),
  })
  .meta({ type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [1042] });

export const Replay = z
  .object(
    {
      from: GivenSeq.meta({ ...GivenSeq.meta(), description: 'Number of the first change to send' }),
      to: GivenSeq.optional().meta({
        ...GivenSeq.meta(),
        description: 'Number of the last change to send. Defaults to the newest change.',
      }),
    },
    { error: 'must be an object' },
  )
  .refine(({ from, to }) => to === undefined || to >= from, { error: 'must not be before "from"', path: ['to'] })
  .meta({ id: 'Replay', description: 'The range of changes to send again' });
export type Replay = z.output<typeof Replay>;

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

/** A delivery that has neither succeeded nor used up its attempts. */
export interface OpenDelivery {
  seq: number;
  plantId: bigint;
  attempts: number;
  dueMs: number;
}

/** The state of a delivery. */
export interface DeliveryRecord extends OpenDelivery {
  status: DeliveryStatus;
  /** Time of the last attempt. */
  timeMs: number | null;
  code: number | null;
  answer: string | null;
  error: string | null;
  /** Lines for the attempt log: the attempts that are not saved yet, newest first. */
  attemptLog: string;
}

/** A delivery, its change and its attempts, newest first. */
export interface LoggedDelivery {
  delivery: Delivery;
  change: Change;
  attempts: Attempt[];
}

/** A webhook to add. */
export type WantedWebhook = Pick<StoredWebhook, 'id' | 'url' | 'events' | 'secret' | 'createdMs'> &
  Partial<Pick<StoredWebhook, 'format' | 'name'>>;

/** Progress of a webhook, saved in one write. */
export interface Progress {
  id: string;
  epoch: number;
  position: number;
  failing: StoredWebhook['failing'];
  disabledMs: number | null;
  records: DeliveryRecord[];
}

export interface DeliveryQuery {
  /** Returns only changes with a smaller number. */
  before?: number | undefined;
  limit?: number | undefined;
  status?: DeliveryStatus | undefined;
}

/** Methods that take an id throw `not_found`. */
export interface WebhookStore {
  /** Adds a webhook, which receives the changes from now on. */
  addWebhook(webhook: WantedWebhook): Promise<StoredWebhook>;
  getWebhook(id: string): Promise<StoredWebhook>;
  /** Returns all webhooks, oldest first. */
  listWebhooks(): Promise<StoredWebhook[]>;
  removeWebhook(id: string): Promise<void>;
  /** Replaces the secret. The old one also signs until `oldUntilMs`. */
  rotateSecret(id: string, secret: string, oldUntilMs: number): Promise<StoredWebhook>;
  /**
   * Changes the given fields. `enabled: true` resumes delivery at the saved position, or at the oldest change that was
   * not pruned. New events apply to the changes after the position. A new URL makes all pending deliveries due.
   */
  updateWebhook(id: string, patch: WebhookPatch, nowMs: number): Promise<StoredWebhook>;
  /** Sends a range of changes again before new ones. Throws `changes_pruned`, or `not_valid` if the range is empty. */
  replay(id: string, range: Replay, nowMs: number): Promise<StoredWebhook>;
  /** Makes a delivery due now, with its attempts counted from zero. */
  retryDelivery(id: string, seq: number, nowMs: number): Promise<Delivery>;
  /** Returns deliveries, newest first. Of the delivered ones the store keeps only the newest. */
  listDeliveries(id: string, query?: DeliveryQuery): Promise<Delivery[]>;
  /** Returns a delivery with its attempts. Throws `not_found` also if the store has no record of the delivery. */
  getDelivery(id: string, seq: number): Promise<LoggedDelivery>;
  /** Returns the time of the oldest change that an enabled webhook has not delivered. */
  oldestWaitingMs(): Promise<number | undefined>;
  /** Returns the number of deliveries to enabled webhooks that wait for their next attempt. */
  countPendingDeliveries(): Promise<number>;
}

export interface Claim {
  /** Webhooks that only this node delivers to until the lease ends. */
  webhooks: StoredWebhook[];
  /** Number of webhooks that this node should release for other nodes. */
  surplus: number;
  /** Number of the newest change. */
  lastSeq: number;
}

/** The part of the store that only the delivery loop uses. */
export interface DeliveryStore {
  /** Renews the lease of this node's webhooks, and adds webhooks that no node has. */
  claimWebhooks(node: string, leaseMs: number): Promise<Claim>;
  /** Releases webhooks. Without ids, releases all webhooks of the node and removes the node. */
  releaseWebhooks(node: string, ids?: string[]): Promise<void>;
  /** Returns the open deliveries by webhook, in ascending order. */
  openDeliveries(ids: string[]): Promise<Map<string, OpenDelivery[]>>;
  /**
   * Saves progress. Returns the ids of webhooks still owned by this node and epoch. For others it saves only successes.
   */
  recordDeliveries(node: string, progress: Progress[]): Promise<string[]>;
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

export function noSuchChange(from: number): PlantStoreError {
  return new PlantStoreError(
    'not_valid',
    `"from" must be the number of a change. No change has the number ${from} or a higher one yet.`,
  );
}
