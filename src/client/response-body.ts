// The body of an answer that comes piece by piece, for as long as somebody reads it.

import { withTimeout } from './request.ts';

export interface ResponseBody {
  /** The next piece, or undefined at the end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  isClosed(): boolean;
  close(): void;
}

export function openResponseBody({ body }: Response, timeoutMs: number, signal: AbortSignal | undefined): ResponseBody {
  const reader = body?.getReader();
  let closed = false;
  return {
    async read() {
      const piece = await withTimeout(timeoutMs, signal, async () => reader?.read());
      return piece?.value;
    },
    isClosed: () => closed,
    close() {
      closed = true;
      reader?.cancel().catch(() => {}); // it has failed before
    },
  };
}
