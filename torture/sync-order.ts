// Reads the strace output of a server under a ledger's writes. Finds responses that left before, or despite a failure
// of, their batch's sync. It identifies a record by its name in the WAL page, and by its id in the response.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

/** The system calls to trace. */
export const ORDER_CALLS = 'fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg';

export interface SyncOrder {
  answers: number;
  syncs: number;
  failedSyncs: number;
  /** Descriptions of the responses that left too early. */
  violations: string[];
}

/**
 * A system call that another thread interrupts has two lines: one at its start, one at its return.
 * A response counts from its first line, and a sync from its last line.
 */
export async function readSyncOrder(file: string): Promise<SyncOrder> {
  const order: SyncOrder = { answers: 0, syncs: 0, failedSyncs: 0, violations: [] };
  const state = new Map<string, 'synced' | 'not synced' | 'failed to sync'>();
  /** By thread: the records it has written, and those it had written when its sync started. */
  const written = new Map<string, string[]>();
  const beingSynced = new Map<string, string[]>();

  for await (const line of createInterface(createReadStream(file))) {
    const [, thread = ''] = /^(\d+) /.exec(line) ?? [];
    if (/^\d+ +pwrite64\(/.test(line)) {
      const news = [...line.matchAll(/Plant number (\d+)/g)].map(([, id = '']) => id).filter((id) => !state.has(id));
      for (const id of news) state.set(id, 'not synced');
      written.set(thread, [...(written.get(thread) ?? []), ...news]);
    }
    if (/^\d+ +f(data)?sync\(/.test(line)) {
      beingSynced.set(thread, written.get(thread) ?? []);
      written.delete(thread);
    }
    const [, returned] = /f(?:data)?sync.*\) += (0|-1 E\w+)/.exec(line) ?? [];
    if (returned !== undefined) {
      order.syncs++;
      if (returned === '-1 EIO') order.failedSyncs++;
      for (const id of beingSynced.get(thread) ?? []) state.set(id, returned === '0' ? 'synced' : 'failed to sync');
      beingSynced.delete(thread);
    }
    const answered = /^\d+ +(?:write|writev|sendto|sendmsg)\(.*HTTP\/1\.1 200 .*location: \/plants\/(\d+)/.exec(
      line,
    )?.[1];
    if (answered === undefined) continue;
    order.answers++;
    const found = state.get(answered) ?? 'not written';
    if (found !== 'synced') order.violations.push(`record ${answered} was ${found} when its 200 left`);
  }
  return order;
}
