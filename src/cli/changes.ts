// plant-store changes prune: the oldest part of the change log goes, the records stay.

import type { Config } from '../config/config.ts';
import { readDuration } from '../lib/duration.ts';
import { requireDatabase, withStore } from './database-access.ts';
import { report } from './terminal/report.ts';

export async function pruneChanges(config: Config, options: { olderThan: string }): Promise<void> {
  const beforeMs = Date.now() - readDuration('--older-than', options.olderThan);
  requireDatabase(config);
  const pruned = await withStore(config, (store) => store.pruneChanges(beforeMs));
  report(`${pruned.toLocaleString('en')} changes pruned`, { pruned });
}
