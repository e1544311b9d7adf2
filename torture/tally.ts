// Counts by key, such as responses by status.

export class Tally<Key> extends Map<Key, number> {
  add(key: Key): void {
    this.set(key, (this.get(key) ?? 0) + 1);
  }

  /** Returns "1,200 × 200, 3 × 400", sorted by key. */
  override toString(): string {
    const sorted = [...this].sort(([one], [other]) => (one < other ? -1 : 1));
    return sorted.map(([key, count]) => `${count.toLocaleString('en')} × ${key}`).join(', ');
  }
}
