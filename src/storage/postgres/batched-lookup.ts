// Many who ask for one thing each → one question for all of them: what is asked while others wait for their answer is
// gathered, and asked together.

const MAX_AT_ONCE = 1000;
const MAX_UNDER_WAY = 2;
const MAX_WAITING = 10_000;

interface Asking<Value> {
  resolve(value: Value | undefined): void;
  reject(error: unknown): void;
}

export function createGather<Key, Value>(
  ask: (keys: Key[]) => Promise<Map<Key, Value>>,
  tooMany: () => Error,
): (key: Key) => Promise<Value | undefined> {
  let waiting = new Map<Key, Asking<Value>[]>();
  let count = 0;
  let underWay = 0;
  let scheduled = false;

  return (key) => {
    if (count >= MAX_WAITING) return Promise.reject(tooMany());
    count++;
    return new Promise<Value | undefined>((resolve, reject) => {
      const asking = waiting.get(key);
      if (asking) asking.push({ resolve, reject });
      else waiting.set(key, [{ resolve, reject }]);
      schedule();
    }).finally(() => count--);
  };

  function schedule(): void {
    if (scheduled || underWay >= MAX_UNDER_WAY) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void askNext();
    });
  }

  async function askNext(): Promise<void> {
    const entries = [...waiting];
    const asked = entries.slice(0, MAX_AT_ONCE);
    waiting = new Map(entries.slice(MAX_AT_ONCE));
    underWay++;
    try {
      const values = await ask(asked.map(([key]) => key));
      for (const [key, all] of asked) for (const { resolve } of all) resolve(values.get(key));
    } catch (error) {
      for (const [, all] of asked) for (const { reject } of all) reject(error);
    }
    underWay--;
    if (waiting.size > 0) schedule();
  }
}
