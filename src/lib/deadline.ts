// Limits the time for which a caller waits for a promise.

/** Settles like `promise`. If it is still pending after `timeoutMs`, settles with the result of `onTimeout`. */
export async function withDeadline<T, Late>(
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => Late,
): Promise<T | Awaited<Late>> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, timeoutMs);
  try {
    return await Promise.race([promise, late.promise.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
