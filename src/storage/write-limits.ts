// Limits on the rows that both databases keep or write at once.

/** Maximum number of changes that one transaction prunes. */
export const PRUNED_AT_ONCE = 10_000;

/** Number of completed deliveries that the store keeps for each webhook. */
export const KEPT_DELIVERED = 1000;
/** Number of new deliveries to a webhook after which the store trims its older ones. */
export const TRIM_EVERY = 500;
