// Counts values by how large they are, as Prometheus wants it.

export type Histogram = ReturnType<typeof createHistogram>;

/** `bounds` ascend; what is beyond the last is counted, too. */
export function createHistogram(bounds: number[]) {
  const counts = bounds.map(() => 0);
  let count = 0;
  let sum = 0;

  return {
    add(value: number): void {
      count++;
      sum += value;
      for (let at = 0; at < bounds.length; at++) {
        if (value > (bounds[at] as number)) continue;
        counts[at] = (counts[at] as number) + 1;
        return;
      }
    },
    /** Lines of the text format, by what follows the name. `labels` come before `le`. */
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
