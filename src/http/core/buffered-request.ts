// A request as the parser hands it over. A body that is wanted whole is kept as its bytes come.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import { bodyTooLarge } from './json-body.ts';
import { ParsedRequest } from './node-internals.ts';

const MAX_EARLY_BYTES = 16 * 1024 * 1024;

/** Bytes of bodies, of all connections, whose requests wait for their turn or for the look-up of their credential. */
export interface EarlyBytes {
  used: number;
}

/** What becomes of a body: it waits to be wanted, is kept until it is whole, or is thrown away as it comes. */
interface Kept {
  use: 'early' | 'whole' | 'none';
  /** Counts the bytes of an early body. */
  early: EarlyBytes | undefined;
  maxBytes: number;
  bytes: number;
  chunks: Buffer[];
  isWhole: boolean;
  fault: PlantStoreError | undefined;
  /** There when somebody waits for it. */
  settle: (() => void) | undefined;
}

export class BufferedRequest extends ParsedRequest {
  /** Its place among the requests of its connection. */
  order = 0;
  hasBody = false;
  /** Without it the body is a stream, as in any IncomingMessage. */
  #kept: Kept | undefined;

  /** For a request that is not authorized yet. Only what was read with its headers may come: nothing else is read meanwhile. */
  holdBody(early: EarlyBytes): void {
    this.#kept ??= createKept('early', Number.POSITIVE_INFINITY, early);
  }

  /** As soon as the request is authorized: what came before and was not held would be lost. */
  keepBody(maxBytes: number): void {
    const early = this.#endEarly();
    this.#kept = createKept('whole', maxBytes);
    this.#kept.isWhole = !this.hasBody; // then Node reports no end
    if (early) this.#pushAgain(early);
  }

  /** The body becomes a stream, of any length. Throws `unavailable` when too much was held. */
  streamBody(): void {
    const early = this.#endEarly();
    if (early?.fault) throw early.fault;
    if (early) this.#pushAgain(early);
  }

  /** Nobody will read it. */
  dropBody(): void {
    const early = this.#endEarly();
    early?.chunks.forEach(free);
    this.#kept = createKept('none', 0);
    if (early?.isWhole) super.receive(null);
    if (this.hasBody && !this.complete) this.resume(); // or Node throws it away itself when the response has left, without freeing it
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

  protected override receive(chunk: Buffer | null): boolean {
    const kept = this.#kept;
    if (!kept) return super.receive(chunk);
    if (chunk === null) {
      kept.isWhole = true;
      kept.settle?.();
      return kept.use === 'early' || super.receive(null); // for a stream that had nothing in it, all goes on as ever
    }
    if (kept.use === 'none' || kept.fault) {
      free(chunk);
      return true;
    }
    kept.bytes += chunk.length;
    kept.chunks.push(chunk);
    if (kept.early) kept.early.used += chunk.length;
    if (kept.early && kept.early.used > MAX_EARLY_BYTES) {
      this.#giveUp(kept, unavailable('Too many requests wait to be authorized: try again later'));
    } else if (kept.bytes > kept.maxBytes) this.#giveUp(kept, bodyTooLarge());
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
    if (kept.early) kept.early.used -= kept.bytes;
    kept.bytes = 0;
    kept.chunks.forEach(free);
    kept.chunks = [];
    kept.fault = fault;
    kept.settle?.();
  }

  #endEarly(): Kept | undefined {
    const kept = this.#kept;
    if (!kept?.early) return undefined;
    kept.early.used -= kept.bytes;
    this.#kept = undefined;
    return kept;
  }

  #pushAgain({ chunks, isWhole, fault }: Kept): void {
    if (fault && this.#kept) this.#giveUp(this.#kept, fault);
    for (const chunk of chunks) this.receive(chunk);
    if (isWhole) this.receive(null);
  }
}

function createKept(use: Kept['use'], maxBytes: number, early?: EarlyBytes): Kept {
  return { use, early, maxBytes, bytes: 0, chunks: [], isWhole: false, fault: undefined, settle: undefined };
}

/** At once: the garbage collector lets 64 MiB of them pile up. A chunk that is part of a larger buffer stays. */
function free({ buffer, byteLength }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
