// A bound on the time for which a promise is awaited.

/** Settles as `promise` does or, if it is still pending after `timeoutMs`, with what `onTimeout` returns or throws. */
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
