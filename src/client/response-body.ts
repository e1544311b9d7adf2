// The body of an answer that comes piece by piece, for as long as somebody reads it.

import { within } from './request.ts';

export interface Body {
  /** The next piece, or undefined at the end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  isClosed(): boolean;
  close(): void;
}

export function openBody({ body }: Response, timeoutMs: number, signal: AbortSignal | undefined): Body {
  const reader = body?.getReader();
  let closed = false;
  return {
    async read() {
      const piece = await within(timeoutMs, signal, async () => reader?.read());
      return piece?.value;
    },
    isClosed: () => closed,
    close() {
      closed = true;
      reader?.cancel().catch(() => {}); // it has failed before
    },
  };
}
