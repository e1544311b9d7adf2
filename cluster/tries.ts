// Requests of a patient client: it counts the outcome of each attempt, and retries until one is final.

import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStoreError } from '../src/client/client.ts';
import { TransientError } from '../src/client/response.ts';
import type { Ledger } from './ledger.ts';

const AGAIN_AFTER_MS = 100;
const ANSWERED_WITHIN_MS = 120_000;

/** Returns a fetch that counts responses. It uses the given node through the balancer, or any node. */
export function countingFetch(ledger: Ledger, node: string | undefined): typeof fetch {
  return async (input, init) => {
    try {
      const headers = { ...(init?.headers as Record<string, string>), ...(node && { 'x-node': node }) };
      const response = await fetch(input, { ...init, headers });
      ledger.countAnswer(String(response.status));
      return response;
    } catch (error) {
      const reason = reasonOf(error);
      if (reason !== 'AbortError') ledger.countAnswer(reason); // the trial aborted it
      throw error;
    }
  };
}

/** Repeats the same request after each transient failure. It may have been stored, and must not be stored twice. */
export async function untilAnswered<T>(what: string, send: () => Promise<T>): Promise<T | 'id_taken'> {
  const endMs = performance.now() + ANSWERED_WITHIN_MS;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof PlantStoreError && error.code === 'id_taken') return 'id_taken';
      if (!(error instanceof TransientError)) throw new Error(`${what}: ${(error as Error).message}`);
      if (performance.now() > endMs)
        throw new Error(`${what}: no response within ${ANSWERED_WITHIN_MS / 1000} s, ${error.message}`);
      await sleep(AGAIN_AFTER_MS);
    }
  }
}

/** Returns the connection error behind fetch's own error. */
function reasonOf(error: unknown): string {
  const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException };
  return cause?.code ?? name;
}
