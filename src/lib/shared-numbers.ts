// Numbers by key in memory that all threads of the process share, such as counts and times. The memory is fixed: a new
// key replaces the one with the smallest number among eight keys. A number that was never set is 0.

import { hash, randomBytes } from 'node:crypto';

const ENTRIES_PER_SET = 8;
/** Entries for each key. With four, the sets of 1 in 10,000 keys are full. */
const ENTRIES_PER_KEY = 4;
const NUMBERS_PER_ENTRY = 2;
/** Bytes before the entries: the lock, and the secret that makes sets unpredictable. */
const [LOCK_BYTES, SECRET_BYTES] = [8, 16];
const HEADER_BYTES = LOCK_BYTES + SECRET_BYTES;
/** States of the lock. */
const [FREE, HELD, AWAITED] = [0, 1, 2];
/** Maximum time for which a thread holds the lock, for which it needs less than a microsecond. */
const MAX_HELD_MS = 1000;
/** Number of keys whose hash a thread remembers. */
const MAX_REMEMBERED = 10_000;

export class SharedNumbers {
  /** The memory, from which another thread can construct the same numbers. */
  readonly memory: SharedArrayBuffer;
  readonly #lock: Int32Array;
  readonly #secret: string;
  /** Pairs of the hash of a key and its number. */
  readonly #entries: Float64Array;
  readonly #hashes = new Map<string, number>();

  /** Creates numbers for about `maxKeys` keys, or opens the memory of another thread. */
  constructor(maxKeys: number | SharedArrayBuffer) {
    this.memory = typeof maxKeys === 'number' ? allocate(maxKeys) : maxKeys;
    this.#lock = new Int32Array(this.memory, 0, 1);
    this.#secret = Buffer.from(this.memory, LOCK_BYTES, SECRET_BYTES).toString('hex');
    this.#entries = new Float64Array(this.memory, HEADER_BYTES);
  }

  /** Returns the number of the key, without taking an entry for it. */
  read(key: string): number {
    const hashed = this.#hash(key);
    return this.#locked(() => this.#read(this.#findEntry(hashed), hashed));
  }

  /** Adds `count`, which can be negative, and returns the sum. */
  add(key: string, count: number): number {
    return this.update(key, (number) => number + count);
  }

  /** Replaces the number of the key with the result of `change`, which no other thread can interrupt, and returns it. */
  update(key: string, change: (number: number) => number): number {
    const hashed = this.#hash(key);
    return this.#locked(() => {
      const entry = this.#findEntry(hashed);
      const changed = change(this.#read(entry, hashed));
      this.#entries[entry] = hashed;
      this.#entries[entry + 1] = changed;
      return changed;
    });
  }

  #read(entry: number, hashed: number): number {
    return this.#entries[entry] === hashed ? (this.#entries[entry + 1] as number) : 0;
  }

  /** Returns the entry of the key, or the one with the smallest number of its set, which the key may take. */
  #findEntry(hashed: number): number {
    const sets = this.#entries.length / (ENTRIES_PER_SET * NUMBERS_PER_ENTRY);
    const first = (hashed % sets) * ENTRIES_PER_SET * NUMBERS_PER_ENTRY;
    let smallest = first;
    for (let entry = first; entry < first + ENTRIES_PER_SET * NUMBERS_PER_ENTRY; entry += NUMBERS_PER_ENTRY) {
      if (this.#entries[entry] === hashed) return entry;
      if ((this.#entries[entry + 1] as number) < (this.#entries[smallest + 1] as number)) smallest = entry;
    }
    return smallest;
  }

  /** Returns 48 bits, which no client can predict. Two keys with equal bits would share their number. */
  #hash(key: string): number {
    const known = this.#hashes.get(key);
    if (known !== undefined) return known;
    if (this.#hashes.size >= MAX_REMEMBERED) this.#hashes.clear();
    const hashed = hash('sha256', this.#secret + key, 'buffer').readUIntBE(0, 6);
    this.#hashes.set(key, hashed);
    return hashed;
  }

  #locked(work: () => number): number {
    this.#acquire();
    try {
      return work();
    } finally {
      this.#release();
    }
  }

  #acquire(): void {
    if (Atomics.compareExchange(this.#lock, 0, FREE, HELD) === FREE) return;
    let timeouts = 0;
    while (Atomics.exchange(this.#lock, 0, AWAITED) !== FREE) {
      if (Atomics.wait(this.#lock, 0, AWAITED, MAX_HELD_MS) === 'timed-out') timeouts++;
      if (timeouts === 2) return; // its thread has ended; one timeout also follows a pause of the whole process
    }
  }

  #release(): void {
    if (Atomics.exchange(this.#lock, 0, FREE) === AWAITED) Atomics.notify(this.#lock, 0, 1);
  }
}

function allocate(maxKeys: number): SharedArrayBuffer {
  const sets = Math.ceil((ENTRIES_PER_KEY * maxKeys) / ENTRIES_PER_SET);
  const setBytes = ENTRIES_PER_SET * NUMBERS_PER_ENTRY * Float64Array.BYTES_PER_ELEMENT;
  const memory = new SharedArrayBuffer(HEADER_BYTES + sets * setBytes);
  Buffer.from(memory, LOCK_BYTES, SECRET_BYTES).set(randomBytes(SECRET_BYTES));
  return memory;
}
