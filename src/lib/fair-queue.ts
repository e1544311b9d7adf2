// A queue whose holders alternate: however much one of them has queued, the next item of another is at most one item away.

export class FairQueue<T> {
  /** Queued items by holder, in the order of the holders' turns. */
  readonly #items = new Map<string, T[]>();

  get isEmpty(): boolean {
    return this.#items.size === 0;
  }

  lengthOf(holder: string): number {
    return this.#items.get(holder)?.length ?? 0;
  }

  /** Adds an item to those of its holder, by default at the end. */
  add(holder: string, item: T, place = Number.POSITIVE_INFINITY): void {
    const items = this.#items.get(holder) ?? [];
    items.splice(place, 0, item);
    this.#items.set(holder, items);
  }

  remove(holder: string, item: T): void {
    const items = this.#items.get(holder) ?? [];
    items.splice(items.indexOf(item), 1);
    if (items.length === 0) this.#items.delete(holder);
  }

  /** Removes the next item and returns it. */
  take(): T | undefined {
    const [next] = this.#items;
    if (!next) return undefined;
    const [holder, items] = next;
    const item = items.shift();
    this.postpone(holder);
    return item;
  }

  /** Makes the turn of a holder the last one. */
  postpone(holder: string): void {
    const items = this.#items.get(holder);
    this.#items.delete(holder);
    if (items && items.length > 0) this.#items.set(holder, items);
  }
}
