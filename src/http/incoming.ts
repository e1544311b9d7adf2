// A request as it comes from the parser. A body that is wanted whole is kept as its bytes come: to read it as a stream
// would make a create 10 % dearer.

import { PlantStoreError } from '../error.ts';
import { IncomingMessage } from '../node-http.ts';
import { bodyTooLarge } from './body.ts';

interface Kept {
  maxBytes: number;
  bytes: number;
  chunks: Buffer[];
  isWhole: boolean;
  fault: PlantStoreError | undefined;
  /** There when somebody waits for it. */
  settle: (() => void) | undefined;
}

export class Incoming extends IncomingMessage {
  /** Its place among the requests of its connection. */
  order = 0;
  #kept: Kept | undefined;

  /** As soon as the headers are there: what came before would be lost. */
  keepBody(maxBytes: number): void {
    this.#kept = { maxBytes, bytes: 0, chunks: [], isWhole: false, fault: undefined, settle: undefined };
  }

  /** All of it, where it is kept. Throws `body_too_large`, and `malformed_request` when the rest will not come. */
  wholeBody(): Promise<Buffer> {
    const kept = this.#kept as Kept;
    return new Promise((resolve, reject) => {
      kept.settle = () => {
        const [first = Buffer.alloc(0)] = kept.chunks;
        if (kept.fault) reject(kept.fault);
        else resolve(kept.chunks.length > 1 ? Buffer.concat(kept.chunks) : first);
      };
      if (kept.isWhole || kept.fault) kept.settle();
    });
  }

  /** What the parser calls with each piece, and with null at the end. */
  override push(chunk: Buffer | null): boolean {
    const kept = this.#kept;
    if (!kept || kept.fault) return super.push(chunk);
    if (chunk === null) {
      kept.isWhole = true;
      kept.settle?.();
      return super.push(null); // for a stream that had nothing in it, all goes on as ever
    }
    kept.bytes += chunk.length;
    if (kept.bytes > kept.maxBytes) this.#giveUp(kept, bodyTooLarge());
    else kept.chunks.push(chunk);
    return true;
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const kept = this.#kept;
    if (kept && !kept.isWhole && !kept.fault) {
      this.#giveUp(kept, new PlantStoreError('malformed_request', 'The body is not as long as its Content-Length'));
    }
    super._destroy(error, callback);
  }

  #giveUp(kept: Kept, fault: PlantStoreError): void {
    kept.chunks = [];
    kept.fault = fault;
    kept.settle?.();
  }
}
