// Names that clients see, as plain constants: a command can offer them without loading the schema library.

/** What a token can be allowed to do. */
export const SCOPES = ['plants:read', 'plants:write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Types of a change, which are also the events of a webhook. */
export const CHANGE_TYPES = ['plant.created', 'plant.updated', 'plant.deleted'] as const;
export type ChangeType = (typeof CHANGE_TYPES)[number];

/** Statuses of a webhook. */
export const WEBHOOK_STATUSES = ['active', 'failing', 'disabled'] as const;

/** Statuses of the delivery of one change to one webhook. */
export const DELIVERY_STATUSES = ['waiting', 'delivered', 'dead'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** Formats of a file with plants. */
export const FORMATS = ['ndjson', 'csv'] as const;
export type Format = (typeof FORMATS)[number];
