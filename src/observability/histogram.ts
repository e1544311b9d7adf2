// Counts values in buckets for Prometheus.

/** A Prometheus histogram. */
export type Histogram = ReturnType<typeof createHistogram>;

/** Returns a histogram. `bounds` are in ascending order. Values beyond the last bound are also counted. */
export function createHistogram(bounds: number[]) {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;

  return {
    /** Counts a value. */
    add(value: number): void {
      count++;
      sum += value;
      for (let at = 0; at < bounds.length; at++) {
        if (value > (bounds[at] as number)) continue;
        counts[at] = (counts[at] as number) + 1;
        return;
      }
    },
    /** Returns the samples by the suffix of their name. `labels` precede `le`. */
    values(labels = ''): [suffix: string, value: number][] {
      const before = labels === '' ? '' : `${labels},`;
      const own = labels === '' ? '' : `{${labels}}`;
      let below = 0;
      const buckets = bounds.map((bound, at): [string, number] => {
        below += counts[at] as number;
        return [`_bucket{${before}le="${bound}"}`, below];
      });
      return [...buckets, [`_bucket{${before}le="+Inf"}`, count], [`_sum${own}`, sum], [`_count${own}`, count]];
    },
  };
}
