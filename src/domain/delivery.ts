// Deliveries, each of which sends one change to one webhook: their state and attempts, the body of a message, tests, and
// replays.

import { z } from 'zod';
import { Change, Seq } from './change.ts';
import { CHANGE_TYPES, DELIVERY_STATUSES } from './names.ts';
import { Time } from './time.ts';

const Code = z
  .int()
  .min(100)
  .max(999)
  .meta({ examples: [503] });
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

export const DeliveryDetail = z
  .object({
    ...DELIVERY,
    request: z
      .object({
        headers: z
          .record(z.string(), z.string())
          .meta({ description: 'Headers of the request', examples: [{ 'webhook-id': 'msg_3HqL0aYbT5nR_1042' }] }),
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
          milliseconds: millisecondsOf('attempt'),
          ...outcomeOf('attempt'),
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
    ...outcomeOf('test'),
    milliseconds: millisecondsOf('test'),
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

function outcomeOf(sent: 'attempt' | 'test') {
  return {
    code: Code.optional().meta({ description: "HTTP status of the receiver's response" }),
    answer: z
      .string()
      .optional()
      .meta({ description: "First 1 KiB of the receiver's response", examples: ['Service Unavailable'] }),
    error: z
      .string()
      .optional()
      .meta({ description: `The reason why the ${sent} failed`, examples: ['The receiver returned 503'] }),
  };
}

function millisecondsOf(sent: 'attempt' | 'test') {
  return z
    .int()
    .meta({ minimum: 0, maximum: 2147483647, examples: [87], description: `Duration of the ${sent} in milliseconds` });
}
