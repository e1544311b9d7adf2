// The store on SQLite: reads on a connection of its own, writes through the writer.

import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import type { Author } from '../../domain/plant.ts';
import type { Store } from '../../domain/store.ts';
import type { Token } from '../../domain/token.ts';
import { noSuchChange, type StoredWebhook } from '../../domain/webhook.ts';
import { nextEventLoopTurn } from '../../lib/event-loop-turns.ts';
import { UserError } from '../../lib/user-error.ts';
import type { Observe } from '../../observability/service-events.ts';
import { createFollow } from '../follow-changes.ts';
import { noDelivery, noToken, noWebhook, type Rejection, requireSameId, toError } from '../write-rules.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { openReader, prepareDatabase, type Role } from './database.ts';
import { openSnapshot } from './export-snapshot.ts';
import { startWriter } from './group-commit.ts';
import { createStage, type Stage } from './import-batcher.ts';
import { prepareReads } from './plants-read.ts';
import { createTogether } from './read-batcher.ts';
import { failureOf } from './sqlite-errors.ts';
import { prepareStats } from './stats.ts';
import { readSummary } from './summary.ts';
import { createSearcher } from './threaded-search.ts';
import { prepareTokenReads } from './tokens-read.ts';
import { prepareWebhookReads } from './webhooks-read.ts';

/** Each keeps a connection open, and the WAL from being emptied. */
const MAX_SNAPSHOTS = 16;

export interface SqliteOptions {
  path: string;
  role: Role;
  observe: Observe;
  /** Called once, when the disk or the file can no longer be trusted: the process must end. */
  onFailure(): void;
  clock?: () => number;
}

/** Throws UserError when the file cannot be used. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, role, observe, onFailure, clock = Date.now } = options;
  const database = prepareDatabase(path, role);
  let failed = false;
  const writer = await startWriter({
    path: database.path,
    lockPath: database.lockPath,
    observe,
    onCommit: () => onCommit(),
    onFailure() {
      failed = true;
      onFailure();
    },
  }).catch((error: Error) => {
    database.release();
    throw new UserError(`Cannot use ${path}: ${error.message}`);
  });
  const db = openReader(database.path);
  const reads = prepareReads(db);
  const searcher = createSearcher(database.path);
  const together = createTogether(db);
  const tokens = prepareTokenReads(db);
  const webhooks = prepareWebhookReads(db);
  const lastSeq = prepareLastSeq(db);
  const stats = prepareStats(db, database.path);
  const { follow, onCommit } = createFollow(async (query) => read(() => reads.changes(query)));
  let stage: Stage | undefined;
  let snapshots = 0;
  const summaries = new Set<Promise<unknown>>();
  const closing = new AbortController();

  return {
    create({ id, name, tag }, { tokenId }) {
      return writer.write({ kind: 'create', id, plant: { name, tag }, tokenId, nowMs: clock() });
    },
    get(id) {
      return readAsync(() => together(() => reads.get(id)));
    },
    list(query = {}) {
      const isPlain = query.tag === undefined && query.q === undefined;
      return readAsync(() => (isPlain ? reads.list(query) : searcher.list(query)));
    },
    put(id, plant, { ifMatch, ifNoneMatch, ...by }) {
      return writer.write({ kind: 'put', id, plant, condition: { ifMatch, ifNoneMatch }, ...authorship(by) });
    },
    async patch(id, patch, { ifMatch, ifNoneMatch, ...by }) {
      requireSameId(id, patch);
      return writer.write({ kind: 'patch', id, patch, condition: { ifMatch, ifNoneMatch }, ...authorship(by) });
    },
    async delete(id, { ifMatch, ifNoneMatch, ...by }) {
      await writer.write({ kind: 'delete', id, condition: { ifMatch, ifNoneMatch }, ...authorship(by) });
    },
    async import(plants, by) {
      if (plants.length === 0) return { created: 0, replayed: 0, failed: 0, errors: [] };
      stage ??= createStage((image, author) => writer.write({ kind: 'create_plants', image, ...authorship(author) }));
      return stage(plants, by);
    },
    async export() {
      if (snapshots >= MAX_SNAPSHOTS) {
        throw new PlantStoreError('unavailable', 'Too many exports are under way: try again later');
      }
      const snapshot = openSnapshot(database.path, read, () => snapshots--);
      snapshots++;
      return snapshot;
    },
    summary() {
      const summary = readAsync(() => readSummary(database.path, clock(), closing.signal));
      summaries.add(summary);
      return summary.finally(() => summaries.delete(summary));
    },
    async changes(query = {}) {
      await nextEventLoopTurn(); // also for what prints the page
      return read(() => reads.changes(query));
    },
    follow: (options = {}) => follow(options),
    async pruneChanges(beforeMs) {
      let total = 0;
      for (;;) {
        const { pruned, more } = await writer.write({ kind: 'prune_changes', beforeMs });
        total += pruned;
        if (!more) return total;
      }
    },
    async addToken(token, secretHash) {
      await writer.write({ kind: 'add_token', token, secretHash });
    },
    async findToken(secretHash) {
      return read(() => tokens.findToken(secretHash));
    },
    getToken,
    async listTokens() {
      return read(() => tokens.listTokens());
    },
    async revokeToken(id, nowMs, evenLastAdmin = false) {
      await writer.write({ kind: 'revoke_token', id, nowMs, evenLastAdmin });
    },
    async rotateToken(id, secretHash, nowMs, oldUntilMs) {
      await writer.write({ kind: 'rotate_token', id, secretHash, nowMs, oldUntilMs });
      return getToken(id);
    },
    async noteUse(ids, timeMs) {
      await writer.write({ kind: 'note_use', ids, timeMs });
    },
    async addWebhook(webhook) {
      await writer.write({ kind: 'add_webhook', webhook });
      return getWebhook(webhook.id);
    },
    getWebhook,
    async listWebhooks() {
      return read(() => webhooks.listWebhooks());
    },
    async removeWebhook(id) {
      await writer.write({ kind: 'remove_webhook', id });
    },
    async rotateSecret(id, secret, oldUntilMs) {
      await writer.write({ kind: 'rotate_secret', id, secret, oldUntilMs });
      return getWebhook(id);
    },
    async enableWebhook(id, nowMs) {
      await writer.write({ kind: 'enable_webhook', id, nowMs });
      return getWebhook(id);
    },
    async replay(id, range, nowMs) {
      await getWebhook(id);
      if (range.from > read(lastSeq)) throw noSuchChange(range.from);
      const [first] = read(() => reads.changes({ after: range.from - 1, limit: 1 })); // or it says that they are gone
      if (!first) throw noSuchChange(range.from);
      await writer.write({ kind: 'replay', id, range, nowMs });
      return getWebhook(id);
    },
    async retryDelivery(id, seq, nowMs) {
      await writer.write({ kind: 'retry_delivery', id, seq, nowMs });
      return read(() => webhooks.getDelivery(id, seq)) ?? refuse(noDelivery(seq));
    },
    async listDeliveries(id, query = {}) {
      await getWebhook(id);
      return read(() => webhooks.listDeliveries(id, query));
    },
    async oldestWaitingMs() {
      return read(() => webhooks.oldestWaitingMs());
    },
    async claimWebhooks() {
      return read(() => webhooks.claimWebhooks());
    },
    async releaseWebhooks() {}, // nobody else could have them
    async openDeliveries(ids) {
      return read(() => webhooks.openDeliveries(ids));
    },
    recordDeliveries(_node, progress) {
      return writer.write({ kind: 'record_deliveries', progress });
    },
    queuedWrites: () => writer.waiting(),
    stats: () => readAsync(stats),
    async probe() {
      await writer.write({ kind: 'probe' });
    },
    async close() {
      closing.abort(unavailable('The service is stopping'));
      if (summaries.size > 0) await Promise.allSettled(summaries); // or writes would be taken for a moment longer
      if (failed) return; // to close a file is to write to it
      const searching = searcher.close();
      if (searching) await searching; // as above
      db.close();
      await writer.close(); // the last connection to close empties the WAL, which marks a clean stop
      database.release();
    },
  };

  async function getToken(id: string): Promise<Token> {
    return read(() => tokens.getToken(id)) ?? refuse(noToken(id));
  }

  async function getWebhook(id: string): Promise<StoredWebhook> {
    return read(() => webhooks.getWebhook(id)) ?? refuse(noWebhook(id));
  }

  function authorship({ tokenId }: Author): { tokenId: string; nowMs: number } {
    return { tokenId, nowMs: clock() };
  }

  function read<Rows>(query: () => Rows): Rows {
    try {
      return query();
    } catch (error) {
      throw toReadError(error);
    }
  }

  async function readAsync<Rows>(query: () => Promise<Rows>): Promise<Rows> {
    return query().catch((error) => {
      throw toReadError(error);
    });
  }

  function toReadError(error: unknown): unknown {
    const failure = failureOf(error);
    if (failure === 'bug') return error; // also what is ours already
    if (failure === 'fatal') writer.fail(error as Error);
    return new PlantStoreError('unavailable', 'The database cannot be read now: try again later', { cause: error });
  }
}

function refuse(rejection: Rejection): never {
  throw toError(rejection);
}
