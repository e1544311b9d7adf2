// Writes backups of the SQLite store on a schedule while the server runs, and deletes the oldest. Delays are measured on
// the monotonic clock, so a clock that is set neither skips nor repeats backups.

import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { BackupSchedule } from '../config/backup-config.ts';
import type { Observe } from '../observability/service-events.ts';
import { type BackupInProgress, startBackup } from '../storage/sqlite/backup.ts';
import {
  type BackupFolder,
  deleteDrafts,
  deleteOldest,
  listBackups,
  newBackupPath,
  prepareFolder,
} from '../storage/sqlite/backup-folder.ts';
import { noteBackup } from '../storage/sqlite/last-backup.ts';

/** Maximum delay before a failed backup is retried. */
const MAX_RETRY_MS = 5 * 60_000;

export interface ScheduledBackupsOptions {
  schedule: BackupSchedule;
  /** Path of the database, as configured. */
  database: string;
  observe: Observe;
  /** Wall clock, for the names of files. */
  clock?: (() => number) | undefined;
}

/** The scheduled backups of one store. At most one is in progress. */
export class ScheduledBackups {
  private readonly options: ScheduledBackupsOptions;
  private readonly folder: BackupFolder;
  private readonly clock: () => number;
  /** Time of the newest good backup. */
  private lastMs: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private inProgress: BackupInProgress | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  private constructor(options: ScheduledBackupsOptions, folder: BackupFolder) {
    this.options = options;
    this.folder = folder;
    this.clock = options.clock ?? Date.now;
  }

  /** Prepares the folder and removes what a crash has left there. Throws UserError if the folder cannot be used. */
  static async prepare(options: ScheduledBackupsOptions): Promise<ScheduledBackups> {
    const folder = { dir: options.schedule.dir, database: options.database };
    await prepareFolder(folder);
    await deleteDrafts(folder);
    const backups = new ScheduledBackups(options, folder);
    const [newest] = await listBackups(folder, backups.clock());
    backups.lastMs = newest?.timeMs;
    return backups;
  }

  /** Starts the schedule. The first backup is due one interval after the newest in the folder. */
  start(): void {
    const nextInMs = delayUntilDue(this.lastAgeMs(), this.options.schedule.everyMs);
    this.options.observe({
      kind: 'backups_scheduled',
      dir: this.folder.dir,
      lastAgeMs: this.lastAgeMs(),
      nextInMs,
    });
    this.wait(nextInMs);
  }

  /** Ends the schedule, and a backup in progress without leaving a file. */
  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.timer);
    await this.inProgress?.cancel().catch(() => {}); // the next start removes a draft that is left
    await this.running;
  }

  private wait(delayMs: number): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.running = this.run();
    }, delayMs);
  }

  private async run(): Promise<void> {
    const { schedule, observe } = this.options;
    const startedMs = performance.now();
    const timeMs = this.clock();
    let nextInMs = schedule.everyMs;
    try {
      const file = await newBackupPath(this.folder, timeMs);
      if (this.isStopped) return;
      this.inProgress = startBackup(this.folder.database, file);
      await this.inProgress.written;
      this.lastMs = timeMs;
      const { size: bytes } = await stat(file);
      observe({ kind: 'backup_written', file, bytes, durationMs: Math.round(performance.now() - startedMs) });
      await this.complete(file, bytes);
    } catch (error) {
      if (this.isStopped) return; // cancelled
      nextInMs = Math.min(schedule.everyMs, MAX_RETRY_MS);
      const reason = (error as Error).message;
      observe({ kind: 'backup_failed', reason, lastAgeMs: this.lastAgeMs(), nextInMs });
    } finally {
      this.inProgress = undefined;
    }
    this.wait(nextInMs);
  }

  /** Notes a good backup for `GET /status` and the metrics, and deletes the oldest. */
  private async complete(newFile: string, bytes: number): Promise<void> {
    const { schedule, observe } = this.options;
    const nowMs = this.clock();
    const report = (what: string) => (error: Error) =>
      observe({ kind: 'backup_incident', reason: `The backup is complete, but ${what}: ${error.message}` });
    await Promise.try(() => noteBackup(realpathSync(this.folder.database), { timeMs: nowMs, bytes })).catch(
      report('GET /status and the metrics do not show it'),
    );
    await deleteOldest(this.folder, { keep: schedule.keep, newFile, nowMs }).catch(
      report('older backups could not be deleted'),
    );
  }

  private lastAgeMs(): number | null {
    return this.lastMs === undefined ? null : this.clock() - this.lastMs;
  }
}

/** Returns the delay until the next backup is due. A newest backup from the future says nothing: the clock was set. */
export function delayUntilDue(lastAgeMs: number | null, everyMs: number): number {
  return lastAgeMs === null || lastAgeMs < 0 ? 0 : Math.max(0, everyMs - lastAgeMs);
}
