// Webhooks, which send changes to receivers, the deliveries of each change, and the store of both.

import { z } from 'zod';
import { PlantStoreError } from './errors.ts';
import { CHANGE_TYPES, type ChangeType, DELIVERY_STATUSES, type DeliveryStatus, WEBHOOK_STATUSES } from './names.ts';
import { Time } from './time.ts';
import { mintId } from './token-secret.ts';
import { strictObjectError } from './validate.ts';

export const MAX_URL_CHARS = 2000;

const Url = z.string({ error: (issue) => (issue.input === undefined ? 'is missing' : 'must be a string') }).meta({
  format: 'uri',
  maxLength: MAX_URL_CHARS,
  description:
    'Where changes are sent to, with POST: `https`, to a public address, unless the operator allows private ones',
});
const Code = z.int().min(100).max(999);
const Seq = z.number().meta({ type: 'integer', format: 'int64' });

/** Events of a webhook that names none: the webhook of the published API is sent when a plant was added. */
export const DEFAULT_EVENTS: ChangeType[] = ['plant.created'];

export const NewWebhook = z
  .strictObject(
    {
      url: Url,
      events: z
        .array(z.enum(CHANGE_TYPES, { error: `must be one of ${CHANGE_TYPES.join(', ')}` }), {
          error: 'must be an array',
        })
        .min(1, { error: 'must name one event at least' })
        .optional()
        .meta({ description: 'Those it is told of', default: DEFAULT_EVENTS }),
    },
    { error: strictObjectError },
  )
  .meta({ id: 'NewWebhook' });
export type NewWebhook = z.output<typeof NewWebhook>;

const WEBHOOK = {
  id: z.string(),
  url: Url,
  events: z.array(z.enum(CHANGE_TYPES)),
  created: Time,
  status: z.enum(WEBHOOK_STATUSES).meta({
    description:
      '`failing`: nothing but failures `since` then; `disabled`: nothing is sent any more, all since then waits in the change log',
  }),
  since: Time.optional().meta({ description: 'When it began to fail, or was disabled' }),
  reason: z.string().optional().meta({ description: 'Why it fails, or was disabled' }),
  rotating: Time.optional().meta({ description: 'While a secret is replaced: until then the old one signs, too' }),
  position: Seq.meta({ description: 'Changes up to this number are delivered, or are listed as deliveries' }),
};

/** A webhook as the API returns it, without its secret. */
export const Webhook = z.object(WEBHOOK).meta({ id: 'Webhook' });
export type Webhook = z.output<typeof Webhook>;

export const WebhookWithSecret = z
  .object({ ...WEBHOOK, secret: z.string().meta({ description: 'Signs what is sent. Shown only now' }) })
  .meta({ id: 'WebhookWithSecret' });
export type WebhookWithSecret = z.output<typeof WebhookWithSecret>;

export const Delivery = z
  .object({
    seq: Seq.meta({ description: 'Number of the change' }),
    event: z.enum(CHANGE_TYPES),
    plant: z.bigint().meta({ type: 'integer', format: 'int64', description: 'Id of the plant' }),
    status: z.enum(DELIVERY_STATUSES).meta({ description: '`dead`: it was tried as often as it is ever tried' }),
    attempts: z.int().meta({ type: 'integer', minimum: 0, maximum: 10 }),
    time: Time.optional().meta({ description: 'Of the last attempt' }),
    next: Time.optional().meta({
      description:
        'Of the next attempt; not there where it comes as soon as those before it of the same plant are done',
    }),
    code: Code.optional().meta({ description: 'Status of the last answer' }),
    answer: z
      .string()
      .optional()
      .meta({ description: 'First 1 KiB of the last answer; only for tokens that have the scope `plants:read`' }),
    error: z.string().optional().meta({ description: 'Why the last attempt failed' }),
  })
  .meta({ id: 'Delivery' });
export type Delivery = z.output<typeof Delivery>;

export const TestResult = z
  .object({
    delivered: z.boolean(),
    code: Code.optional().meta({ description: 'Status of the answer' }),
    answer: z.string().optional().meta({ description: 'First 1 KiB of the answer' }),
    error: z.string().optional().meta({ description: 'Why it failed' }),
    milliseconds: z.int().meta({ minimum: 0, maximum: 2147483647 }),
  })
  .meta({ id: 'TestResult' });
export type TestResult = z.output<typeof TestResult>;

const GivenSeq = z
  .custom<number>((seq) => Number.isSafeInteger(seq) && (seq as number) >= 1, {
    error: ({ input }) => (input === undefined ? 'is missing' : 'must be the number of a change'),
  })
  .meta({ type: 'integer', format: 'int64', minimum: 1, maximum: Number.MAX_SAFE_INTEGER });

export const Replay = z
  .object(
    {
      from: GivenSeq.meta({ ...GivenSeq.meta(), description: 'Number of the first change' }),
      to: GivenSeq.optional().meta({
        ...GivenSeq.meta(),
        description: 'Number of the last change; without it, the newest',
      }),
    },
    { error: 'must be an object' },
  )
  .refine(({ from, to }) => to === undefined || to >= from, { error: 'must not be before "from"', path: ['to'] })
  .meta({ id: 'Replay' });
export type Replay = z.output<typeof Replay>;

/** A webhook as the store keeps it. */
export interface StoredWebhook {
  id: string;
  url: string;
  events: ChangeType[];
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
  /** Grows when a user or another node has changed the position or the state. */
  epoch: number;
  /** Grows when a user asks for a retry. */
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
}

/** The progress of a webhook that is saved at once. */
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
  addWebhook(webhook: Pick<StoredWebhook, 'id' | 'url' | 'events' | 'secret' | 'createdMs'>): Promise<StoredWebhook>;
  getWebhook(id: string): Promise<StoredWebhook>;
  /** Returns all webhooks, oldest first. */
  listWebhooks(): Promise<StoredWebhook[]>;
  removeWebhook(id: string): Promise<void>;
  /** Replaces the secret. The old one also signs until `oldUntilMs`. */
  rotateSecret(id: string, secret: string, oldUntilMs: number): Promise<StoredWebhook>;
  /** Resumes delivery at the saved position, or at the oldest change that was not pruned. */
  enableWebhook(id: string, nowMs: number): Promise<StoredWebhook>;
  /** Sends a range of changes again before new ones. Throws `changes_pruned`, or `not_valid` if the range is empty. */
  replay(id: string, range: Replay, nowMs: number): Promise<StoredWebhook>;
  /** Makes a delivery due now, with its attempts counted from zero. */
  retryDelivery(id: string, seq: number, nowMs: number): Promise<Delivery>;
  /** Returns deliveries, newest first. Of the delivered ones the store keeps only the newest. */
  listDeliveries(id: string, query?: DeliveryQuery): Promise<Delivery[]>;
  /** Returns the time of the oldest change that an enabled webhook has not delivered. */
  oldestWaitingMs(): Promise<number | undefined>;
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
  /** Releases webhooks; without ids all of them, and the node itself. */
  releaseWebhooks(node: string, ids?: string[]): Promise<void>;
  /** Returns the open deliveries by webhook, in ascending order. */
  openDeliveries(ids: string[]): Promise<Map<string, OpenDelivery[]>>;
  /** Saves progress. Returns the ids of the webhooks that still belong to this node and epoch; of others it saves only successes. */
  recordDeliveries(node: string, progress: Progress[]): Promise<string[]>;
}

/** Time for which a replaced secret still signs. */
export const OLD_SECRET_MS = 24 * 3_600_000;

export function mintWebhookId(): string {
  return mintId('whk');
}

export function describeWebhook(webhook: StoredWebhook, nowMs: number): Webhook {
  const { id, url, events, createdMs, position, failing, disabledMs, oldSecret } = webhook;
  const sinceMs = disabledMs ?? failing?.sinceMs;
  return {
    id,
    url,
    events,
    created: new Date(createdMs).toISOString(),
    status: disabledMs !== null ? 'disabled' : failing ? 'failing' : 'active',
    ...(sinceMs !== undefined && { since: new Date(sinceMs).toISOString() }),
    ...(failing && { reason: failing.reason }),
    ...(oldSecret && nowMs < oldSecret.untilMs && { rotating: new Date(oldSecret.untilMs).toISOString() }),
    position,
  };
}

export function noSuchChange(from: number): PlantStoreError {
  return new PlantStoreError('not_valid', `"from" must be the number of a change: there is none from ${from} on yet`);
}
