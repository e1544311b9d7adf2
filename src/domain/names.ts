// Names that clients see, as plain constants, so that a command can list them without loading the schema library.

/** Scopes that a token can have. */
export const SCOPES = ['plants:read', 'plants:write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Default time for which the old secret of a rotated token is still accepted. */
export const DEFAULT_GRACE = '24h';

/** Types of changes, which are also the events of webhooks. */
export const CHANGE_TYPES = ['plant.created', 'plant.updated', 'plant.deleted'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** Statuses of a webhook. */
export const WEBHOOK_STATUSES = ['active', 'failing', 'disabled'] as const;

/** Reason of a webhook that a user has disabled. */
export const DISABLED_BY_USER = 'A user disabled the webhook';

/** Formats of the messages that a webhook sends: the plant alone, or an event that contains the change. */
export const WEBHOOK_FORMATS = ['plant', 'event'] as const;
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number];

/** Statuses of a delivery, which sends one change to one webhook. */
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Formats of a plant file. */
export const FORMATS = ['ndjson', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** Fields of a plant, which are the columns of a CSV file. */
export const PLANT_FIELDS = ['id', 'name', 'tag'] as const;

/** Orders of a list of plants. A leading minus sign reverses the order. */
export const SORTS = ['id', '-id', 'name', '-name', 'updated', '-updated'] as const;

/** Orders of a page of the change log. */
export const CHANGE_ORDERS = ['asc', 'desc'] as const;
export type ChangeOrder = (typeof CHANGE_ORDERS)[number];
