// A request as a client with patience makes it: each try is counted by its answer, and made again until one is final.

import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../src/client/client.ts';
import { TransientError } from '../src/client/response.ts';
import type { Ledger } from './ledger.ts';

const AGAIN_AFTER_MS = 100;
const ANSWERED_WITHIN_MS = 120_000;

/** Through the balancer to that node, or to any. */
export function countingFetch(ledger: Ledger, node: string | undefined): typeof fetch {
  return async (input, init) => {
    try {
      const headers = { ...(init?.headers as Record<string, string>), ...(node && { 'x-node': node }) };
      const response = await fetch(input, { ...init, headers });
      ledger.countAnswer(String(response.status));
      return response;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== 'AbortError') ledger.countAnswer(reason); // that was us
      throw error;
    }
  };
}

/** The same again after each passing failure: it may have been stored, and must not be stored twice. */
export async function untilAnswered<T>(what: string, send: () => Promise<T>): Promise<T | 'id_taken'> {
  const endMs = performance.now() + ANSWERED_WITHIN_MS;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof PlantStoreError && error.code === 'id_taken') return 'id_taken';
      if (!(error instanceof TransientError)) throw new Error(`${what}: ${(error as Error).message}`);
      if (performance.now() > endMs) throw new Error(`${what}: no answer in all this time, ${error.message}`);
      await sleep(AGAIN_AFTER_MS);
    }
  }
}

/** Behind fetch's own error is what happened to the connection. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? name;
}
