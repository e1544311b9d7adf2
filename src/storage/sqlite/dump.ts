// Reads a consistent snapshot of an SQLite store as rows. A server may continue to write to the store.

import type { SQLOutputValue } from 'node:sqlite';
import type { ChangeRow, DeliveryRow, PlantRowWithId } from '../row-mapping.ts';
import type { CopiedSecret, CopiedToken, CopiedWebhook, StoreCopy } from '../store-copy.ts';
import { prepareLastSeq } from './change-numbers.ts';
import { openReader, prepareDatabase } from './database.ts';

/** Opens the snapshot. Throws UserError if the file cannot be used. */
export function openDump(givenPath: string): StoreCopy & { close(): void } {
  const database = prepareDatabase(givenPath, 'command');
  const db = openReader(database.path);
  db.exec('BEGIN');
  const lastSeq = prepareLastSeq(db)(); // this first read starts the snapshot
  const all = (sql: string) => db.prepare(sql).all() as Record<string, number>[];
  const [{ pruned_to = 0, plant_count = 0 } = {}] = all('SELECT pruned_to, plant_count FROM numbering');
  const [{ plants = 0, changes = 0 } = {}] = all(
    'SELECT (SELECT count(*) FROM plants) AS plants, (SELECT count(*) FROM changes) AS changes',
  );
  return {
    lastSeq,
    prunedTo: pruned_to,
    plantCount: plant_count,
    skipped: all('SELECT first, last FROM skipped WHERE first <= last ORDER BY first') as StoreCopy['skipped'],
    counts: { plants, changes },
    plants: () => rows<PlantRowWithId>('SELECT * FROM plants ORDER BY id'),
    changes: () => rows<ChangeRow>('SELECT * FROM changes ORDER BY seq'),
    changeAt(seq) {
      const statement = db.prepare('SELECT * FROM changes WHERE seq = ?');
      statement.setReadBigInts(true);
      return statement.get(seq) as ChangeRow | undefined;
    },
    tokens: () => rows<CopiedToken>('SELECT * FROM tokens ORDER BY id'),
    oldSecrets: () => rows<CopiedSecret>('SELECT * FROM old_secrets'),
    webhooks: () => rows<CopiedWebhook>('SELECT * FROM webhooks ORDER BY id'),
    deliveries: () => rows<DeliveryRow>('SELECT * FROM deliveries ORDER BY webhook_id, seq'),
    close() {
      db.close();
      database.release();
    },
  };

  async function* rows<T extends Record<string, SQLOutputValue>>(sql: string): AsyncGenerator<T> {
    const statement = db.prepare(sql);
    statement.setReadBigInts(true);
    yield* statement.iterate() as Iterable<T>;
  }
}
