// Numbers by key in memory that all threads of the process share, such as counts and times. The memory is fixed: a new
// key replaces the one with the smallest number among eight keys. A number that was never set is 0.

import { hash, randomBytes } from 'node:crypto';

const SLOTS_PER_PLACE = 8;
/** Slots for each key. With four, the places of 1 in 10,000 keys are full. */
const SLOTS_PER_KEY = 4;
const NUMBERS_PER_SLOT = 2;
/** Bytes before the slots: the lock, and the secret that makes places unpredictable. */
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
  readonly #slots: Float64Array;
  readonly #hashes = new Map<string, number>();

  /** Creates numbers for about `maxKeys` keys, or opens the memory of another thread. */
  constructor(maxKeys: number | SharedArrayBuffer) {
    this.memory = typeof maxKeys === 'number' ? allocate(maxKeys) : maxKeys;
    this.#lock = new Int32Array(this.memory, 0, 1);
    this.#secret = Buffer.from(this.memory, LOCK_BYTES, SECRET_BYTES).toString('hex');
    this.#slots = new Float64Array(this.memory, HEADER_BYTES);
  }

  /** Returns the number of the key, without taking a slot for it. */
  read(key: string): number {
    const hashed = this.#hash(key);
    return this.#locked(() => this.#read(this.#findSlot(hashed), hashed));
  }

  /** Adds `count`, which can be negative, and returns the sum. */
  add(key: string, count: number): number {
    return this.update(key, (number) => number + count);
  }

  /** Replaces the number of the key with the result of `change`, which no other thread can interrupt, and returns it. */
  update(key: string, change: (number: number) => number): number {
    const hashed = this.#hash(key);
    return this.#locked(() => {
      const slot = this.#findSlot(hashed);
      const changed = change(this.#read(slot, hashed));
      this.#slots[slot] = hashed;
      this.#slots[slot + 1] = changed;
      return changed;
    });
  }

  #read(slot: number, hashed: number): number {
    return this.#slots[slot] === hashed ? (this.#slots[slot + 1] as number) : 0;
  }

  /** Returns the slot of the key, or the one with the smallest number of its place, which the key may take. */
  #findSlot(hashed: number): number {
    const places = this.#slots.length / (SLOTS_PER_PLACE * NUMBERS_PER_SLOT);
    const first = (hashed % places) * SLOTS_PER_PLACE * NUMBERS_PER_SLOT;
    let smallest = first;
    for (let slot = first; slot < first + SLOTS_PER_PLACE * NUMBERS_PER_SLOT; slot += NUMBERS_PER_SLOT) {
      if (this.#slots[slot] === hashed) return slot;
      if ((this.#slots[slot + 1] as number) < (this.#slots[smallest + 1] as number)) smallest = slot;
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
  const places = Math.ceil((SLOTS_PER_KEY * maxKeys) / SLOTS_PER_PLACE);
  const slotBytes = SLOTS_PER_PLACE * NUMBERS_PER_SLOT * Float64Array.BYTES_PER_ELEMENT;
  const memory = new SharedArrayBuffer(HEADER_BYTES + places * slotBytes);
  Buffer.from(memory, LOCK_BYTES, SECRET_BYTES).set(randomBytes(SECRET_BYTES));
  return memory;
}
