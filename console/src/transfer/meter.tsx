// A bar that shows how much is done.

export function Meter({ percent, label }: { percent: number; label: string }) {
  return (
    <svg
      class="meter"
      viewBox="0 0 100 4"
      preserveAspectRatio="none"
      role="progressbar"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
    >
      <rect class="bg" width="100" height="4" />
      <rect class="fg" width={percent} height="4" />
    </svg>
  );
}

/** Returns whole percent, rounded down, so that 100 means done. */
export function percentOf(done: number, total: number): number {
  return total === 0 ? 0 : Math.min(100, Math.floor((100 * done) / total));
}
