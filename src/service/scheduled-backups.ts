// Writes backups of the SQLite store on a schedule while the server runs, and deletes the oldest. Delays are measured on
// the monotonic clock, so a clock that is set neither skips nor repeats backups.

import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { BackupSchedule } from '../config/backup-config.ts';
import type { LastBackup } from '../domain/store.ts';
import { withDeadline } from '../lib/deadline.ts';
import { UserError } from '../lib/user-error.ts';
import type { Observe } from '../observability/service-events.ts';
import { type BackupInProgress, startBackup } from '../storage/sqlite/backup.ts';
import {
  type BackupFolder,
  claimFolder,
  deleteDrafts,
  deleteOldest,
  listBackups,
  newBackupPath,
} from '../storage/sqlite/backup-folder.ts';
import { noteBackup, readLastBackup } from '../storage/sqlite/last-backup.ts';
import type { ServerLock } from '../storage/sqlite/server-lock.ts';

/** Maximum delay before a failed backup is retried. */
const MAX_RETRY_MS = 5 * 60_000;
/** Time that a stop waits for the process of a backup, which cannot end while its disk does not respond. */
const MAX_STOP_MS = 1000;

export interface ScheduledBackupsOptions {
  schedule: BackupSchedule;
  /** Path of the database, as configured. */
  database: string;
  observe: Observe;
  /** Wall clock, for the names of files. */
  clock?: (() => number) | undefined;
  /** Time without progress after which a backup has failed. */
  stallMs?: number | undefined;
}

/** The scheduled backups of one store. At most one is in progress. */
export class ScheduledBackups {
  private readonly options: ScheduledBackupsOptions;
  private readonly folder: BackupFolder;
  private readonly clock: () => number;
  private readonly lock: ServerLock;
  /** Time of the newest good backup. */
  private lastMs: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private inProgress: BackupInProgress | undefined;
  private running: Promise<void> | undefined;
  private isStopped = false;

  private constructor(options: ScheduledBackupsOptions, folder: BackupFolder, lock: ServerLock) {
    this.options = options;
    this.folder = folder;
    this.lock = lock;
    this.clock = options.clock ?? Date.now;
  }

  /** Reserves the folder and removes what a crash has left there. Throws UserError if another store uses the folder. */
  static async open(options: ScheduledBackupsOptions): Promise<ScheduledBackups> {
    const folder = { dir: options.schedule.dir, database: options.database };
    const lock = claimFolder(folder);
    try {
      await deleteDrafts(folder);
      const backups = new ScheduledBackups(options, folder, lock);
      await backups.readNewest();
      return backups;
    } catch (error) {
      lock.release();
      throw error;
    }
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

  /** Ends the schedule, and a backup in progress without leaving a file. A second call does nothing. */
  async stop(): Promise<void> {
    if (this.isStopped) return;
    this.isStopped = true;
    clearTimeout(this.timer);
    this.inProgress?.cancel();
    const ended = Promise.all([this.inProgress?.ended, this.running]);
    await withDeadline(ended, MAX_STOP_MS, () => {}).catch(() => {}); // the next start removes a draft that is left
    this.lock.release();
  }

  /** Reads the time of the newest backup, and notes it if a kill has prevented that. */
  private async readNewest(): Promise<void> {
    const nowMs = this.clock();
    const [newest] = await listBackups(this.folder, nowMs);
    this.lastMs = newest?.timeMs;
    const path = realpathSync(this.folder.database);
    const notedMs = (await readLastBackup(path))?.timeMs ?? 0;
    if (newest && newest.timeMs > notedMs && newest.timeMs <= nowMs) this.note(newest);
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
      if (this.inProgress) throw new UserError('The previous backup has not ended: its disk does not respond');
      const file = await newBackupPath(this.folder, timeMs);
      if (this.isStopped) return;
      await this.write(file);
      this.lastMs = timeMs;
      const { size: bytes } = await stat(file);
      observe({ kind: 'backup_written', file, bytes, durationMs: Math.round(performance.now() - startedMs) });
      this.note({ timeMs, bytes });
      await this.rotate(file);
    } catch (error) {
      if (this.isStopped) return; // cancelled
      nextInMs = Math.min(schedule.everyMs, MAX_RETRY_MS);
      const reason = (error as Error).message;
      observe({ kind: 'backup_failed', reason, lastAgeMs: this.lastAgeMs(), nextInMs });
    }
    this.wait(nextInMs);
  }

  private async write(file: string): Promise<void> {
    const backup = startBackup(this.folder.database, file, this.options.stallMs);
    this.inProgress = backup;
    const forget = () => {
      this.inProgress = undefined;
    };
    void backup.ended.then(forget, forget);
    await backup.written;
  }

  /** Notes a good backup for `GET /status` and the metrics. */
  private note(backup: LastBackup): void {
    try {
      noteBackup(realpathSync(this.folder.database), backup);
    } catch (error) {
      this.report('GET /status and the metrics do not show it', error as Error);
    }
  }

  /** Deletes the oldest backups. */
  private async rotate(newFile: string): Promise<void> {
    try {
      await deleteOldest(this.folder, { keep: this.options.schedule.keep, newFile, nowMs: this.clock() });
    } catch (error) {
      this.report('older backups could not be deleted', error as Error);
    }
  }

  private report(what: string, { message }: Error): void {
    this.options.observe({ kind: 'backup_incident', reason: `The backup is complete, but ${what}: ${message}` });
  }

  private lastAgeMs(): number | null {
    return this.lastMs === undefined ? null : this.clock() - this.lastMs;
  }
}

/** Returns the delay until the next backup is due. A newest backup from the future says nothing: the clock was set. */
export function delayUntilDue(lastAgeMs: number | null, everyMs: number): number {
  return lastAgeMs === null || lastAgeMs < 0 ? 0 : Math.max(0, everyMs - lastAgeMs);
}
