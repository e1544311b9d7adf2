// The write queues of one thread: one for requests, and one for the plants of imports, whose transactions take longer
// and must not delay the others.

import { GroupCommit, type GroupCommitOptions } from './group-commit.ts';
import type { WriterConnections } from './writer.ts';
import { MAX_BATCH_WRITES } from './writer-messages.ts';
import type { Done, Write } from './writes.ts';

export class WriteQueues {
  readonly #requests: GroupCommit;
  readonly #imports: GroupCommit;

  constructor(connections: WriterConnections, onFailure: GroupCommitOptions['onFailure']) {
    this.#requests = new GroupCommit({ connection: connections.requests, maxWrites: MAX_BATCH_WRITES, onFailure });
    this.#imports = new GroupCommit({
      connection: connections.imports,
      maxWrites: 1,
      onFailure: (cause) => this.#requests.fail(cause), // which reports it
    });
  }

  /** Queues a write. Resolves after its commit. */
  write<W extends Write>(write: W): Promise<Done<W>> {
    return (write.kind === 'create_plants' ? this.#imports : this.#requests).write(write);
  }

  /** Returns the number of writes of all threads that are queued or in a transaction. */
  queued(): number {
    return this.#requests.room.writes;
  }

  /** True after the disk or the file was found unreliable. */
  get hasFailed(): boolean {
    return this.#requests.hasFailed;
  }

  /** Rejects all writes and stops for good, because the disk or the file is no longer reliable. */
  fail(cause: Error): void {
    this.#imports.fail(cause);
  }

  /** Rejects later writes. Resolves when all earlier ones are committed. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#imports.close()]);
  }
}
