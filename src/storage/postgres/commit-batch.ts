// Commits a batch of writes. It repeats transactions until each write is settled. One is nearly always enough.

import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { PlantRow, PlantRowWithId } from '../row-mapping.ts';
import { actionOf, nextRow, resultOf } from '../write-rules.ts';
import { CHANGED_BY_MANY, TransactionError } from './pg-errors.ts';
import { readPlants } from './plants-read.ts';
import { type Outcome, type Step, writeLockedSteps, writeSteps } from './plants-write.ts';
import type { Transactions } from './transaction.ts';
import type { QueuedWrite, WriteGroup, Written } from './write-queue.ts';

/** Maximum number of attempts, per write to an id, when another thread or node is first each time. */
const MAX_ATTEMPTS = 20;
const RETRY_MS = 20;

export interface CommitBatchOptions {
  transactions: Transactions;
  observe: Observe;
  /** Called after each commit. `hasChanges` is true if the commit changed a record. */
  onCommit(hasChanges: boolean): void;
  /** Returns the error for the caller of a write. */
  toError(error: unknown): Promise<Error>;
}

/** Commits a batch. Never throws: a write that fails is settled with its error. */
export async function commitBatch(options: CommitBatchOptions, groups: WriteGroup[]): Promise<void> {
  const all = groups.map((group): PendingGroup => ({ ...group, row: undefined, seen: 'not yet', isContended: false }));
  const needPresent = all.filter(({ writes }) => writes[0]?.write.kind !== 'create');
  await readPresent(options, needPresent);
  const maxAttempts = MAX_ATTEMPTS * Math.max(...all.map(({ writes }) => writes.length));
  let open = all;
  for (let attempt = 0; open.length > 0; attempt++) {
    if (attempt === maxAttempts) failAll(open, unavailable(CHANGED_BY_MANY));
    const next = open.flatMap((group) => nextStep(group) ?? []);
    const { create = [], change = [], lock = [] } = Object.groupBy(next, transactionOf);
    await Promise.all([
      commitSteps(options, create, execute),
      commitSteps(options, change, execute),
      commitSteps(options, lock, executeLocked),
    ]);
    open = open.filter(({ writes }) => writes.length > 0);
  }
}

async function readPresent({ transactions, toError }: CommitBatchOptions, groups: PendingGroup[]): Promise<void> {
  if (groups.length === 0) return;
  try {
    const ids = groups.map(({ id }) => id);
    setRows(groups, await readPlants(transactions, ids));
  } catch (error) {
    failAll(groups, await toError(error));
  }
}

/** Returns the kind of transaction for a step: `lock` locks the record first, because others change it too. */
function transactionOf({ group, step }: NextStep): 'create' | 'change' | 'lock' {
  if (!step.present) return 'create';
  return group.isContended ? 'lock' : 'change';
}

async function commitSteps(options: CommitBatchOptions, next: NextStep[], run: typeof execute): Promise<void> {
  if (next.length === 0) return;
  try {
    const startMs = performance.now();
    const executed = await withRetries(() => run(options.transactions, next));
    if (executed.length === 0) return;
    options.observe({ kind: 'commit', writes: executed.length, durationMs: performance.now() - startMs });
    options.onCommit(executed.map(applyOutcome).includes(true));
  } catch (error) {
    const own = await options.toError(error);
    const isBug = own instanceof TransactionError;
    if (isBug && next.length > 1) {
      for (const one of next) await commitSteps(options, [one], run); // isolates the step that fails
      return;
    }
    failAll(
      next.map(({ group }) => group),
      own,
    );
  }
}

/** Executes steps, each of which takes effect if its record is unchanged. */
async function execute(transactions: Transactions, next: NextStep[]): Promise<ExecutedStep[]> {
  const outcomes = await writeSteps(
    transactions,
    next.map(({ step }) => step),
  );
  return next.map((one, at) => ({ ...one, outcome: outcomes[at] as Outcome }));
}

/** Locks the records of the planned steps, and decides and executes steps that no other write can come before. */
async function executeLocked(transactions: Transactions, planned: NextStep[]): Promise<ExecutedStep[]> {
  const groups = planned.map(({ group }) => group);
  let next: NextStep[] = [];
  const outcomes = await writeLockedSteps(
    transactions,
    groups.map(({ id }) => id),
    (rows) => {
      setRows(groups, rows);
      next = groups.flatMap((group) => (group.row && nextStep(group)) ?? []); // nothing locks a record that is gone
      return next.map(({ step }) => step);
    },
  );
  return next.map((one, at) => ({ ...one, outcome: outcomes[at] as Outcome }));
}

function setRows(groups: PendingGroup[], rows: PlantRowWithId[]): void {
  const rowOf = new Map(rows.map((row) => [row.id, row]));
  for (const group of groups) Object.assign(group, { row: rowOf.get(group.id), seen: 'read' });
}

/** Applies the outcome of a step. Returns true if the step changed a record. */
function applyOutcome({ group, step: { write, action, present }, outcome }: ExecutedStep): boolean {
  group.seen = 'committed';
  if ('present' in outcome) {
    group.row = outcome.present;
    group.isContended = true;
    return false;
  }
  if ('kept' in outcome) {
    settleNext(group, { done: resultOf(write, present as PlantRow, true) });
    return false;
  }
  group.row = action.does === 'store' ? nextRow(write, present, action.plant, outcome.seq) : undefined;
  settleNext(group, { done: group.row ? resultOf(write, group.row, false) : null });
  return true;
}

async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const isConflict = error instanceof TransactionError && error.failure === 'conflict' && !error.unknown;
      if (!isConflict || attempts === MAX_ATTEMPTS) throw error;
      await sleep(Math.random() * RETRY_MS);
    }
  }
}

interface PendingGroup extends WriteGroup {
  /** The record to which the first write applies. */
  row: PlantRow | undefined;
  /** Source of `row`. A record that was only read may not be on every standby yet. One that a commit found is. */
  seen: 'not yet' | 'read' | 'committed';
  /** True if another thread or node was first with a write to the record. */
  isContended: boolean;
}

type NextStep = { group: PendingGroup; step: Step };
type ExecutedStep = NextStep & { outcome: Outcome };

/** Settles, in order, the writes that need no step. Returns the step of the first write that needs one. */
function nextStep(group: PendingGroup): NextStep | undefined {
  for (let next = group.writes[0]; next; next = group.writes[0]) {
    const { write } = next;
    const action = actionOf(write, group.row);
    if (action.does === 'reject') settleNext(group, action);
    else if (action.does === 'keep' && group.seen === 'committed') {
      settleNext(group, { done: resultOf(write, group.row as PlantRow, true) });
    } else return { group, step: { write, present: group.row, action } };
  }
  return undefined;
}

function settleNext({ writes, release }: PendingGroup, written: Written): void {
  const { settle } = writes.shift() as QueuedWrite;
  if (writes.length === 0) release();
  settle(written);
}

function failAll(groups: PendingGroup[], error: Error): void {
  for (const group of groups) while (group.writes.length > 0) settleNext(group, error);
}
