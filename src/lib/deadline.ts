// A bound on the time for which a promise is awaited.

/** Settles as `promise` does or, if it is still pending after `timeoutMs`, with what `onTimeout` returns or throws. */
export async function withDeadline<T, Late>(
  promise: Promise<T>,
  timeoutMs: number,
  onTimeout: () => Late,
): Promise<T | Awaited<Late>> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  try {
    return await Promise.race([promise, late.then(onTimeout)]);
  } finally {
    clearTimeout(timer);
  }
}
