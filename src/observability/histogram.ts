// Counts values in buckets for Prometheus.

/** A Prometheus histogram. The caller keeps the bounds of its buckets, in ascending order. */
export interface Histogram {
  /** Number of values in each bucket. Values beyond the last bound are in none. */
  buckets: number[];
  count: number;
  sum: number;
}

export function createHistogram(bounds: readonly number[]): Histogram {
  return { buckets: bounds.map(() => 0), count: 0, sum: 0 };
}

export function addValue(histogram: Histogram, bounds: readonly number[], value: number): void {
  histogram.count++;
  histogram.sum += value;
  for (let at = 0; at < bounds.length; at++) {
    if (value > (bounds[at] as number)) continue;
    histogram.buckets[at] = (histogram.buckets[at] as number) + 1;
    return;
  }
}

/** Returns the sum of two histograms with the same bounds. */
export function addHistograms(one: Histogram, other: Histogram): Histogram {
  return {
    buckets: one.buckets.map((count, at) => count + (other.buckets[at] as number)),
    count: one.count + other.count,
    sum: one.sum + other.sum,
  };
}

/** Returns the samples by the suffix of their name. `labels` precede `le`. */
export function samplesOf(
  { buckets, count, sum }: Histogram,
  bounds: readonly number[],
  labels = '',
): [suffix: string, value: number][] {
  const before = labels === '' ? '' : `${labels},`;
  const own = labels === '' ? '' : `{${labels}}`;
  let below = 0;
  const values = bounds.map((bound, at): [string, number] => {
    below += buckets[at] as number;
    return [`_bucket{${before}le="${bound}"}`, below];
  });
  return [...values, [`_bucket{${before}le="+Inf"}`, count], [`_sum${own}`, sum], [`_count${own}`, count]];
}
