// Commits a batch of writes. It repeats transactions until each write is settled. One is nearly always enough.

import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { PlantRow } from '../row-mapping.ts';
import { actionOf, nextRow, resultOf } from '../write-rules.ts';
import { CHANGED_BY_MANY, TransactionError } from './pg-errors.ts';
import { readPlants } from './plants-read.ts';
import { type Outcome, type Step, writeSteps } from './plants-write.ts';
import type { Transactions } from './transaction.ts';
import type { QueuedWrite, WriteGroup, Written } from './write-queue.ts';

/** Maximum number of attempts when another node is first each time. */
const MAX_ATTEMPTS = 20;
const RETRY_MS = 20;

export interface CommitBatchOptions {
  transactions: Transactions;
  observe: Observe;
  /** Called after each commit. `hasChanges` is true if the commit changed a record. */
  onCommit(hasChanges: boolean): void;
  /** Returns the error for the caller of a write. */
  toError(error: unknown): Error;
}

/** Commits a batch. Never throws: a write that fails is settled with its error. */
export async function commitBatch(options: CommitBatchOptions, groups: WriteGroup[]): Promise<void> {
  const all = groups.map((group): PendingGroup => ({ ...group, row: undefined, seen: 'not yet' }));
  const needPresent = all.filter(({ writes }) => writes[0]?.write.kind !== 'create');
  await readPresent(options, needPresent);
  const maxAttempts = MAX_ATTEMPTS + Math.max(...all.map(({ writes }) => writes.length));
  let open = all;
  for (let attempt = 0; open.length > 0; attempt++) {
    if (attempt === maxAttempts) failAll(open, unavailable(CHANGED_BY_MANY));
    const next = open.flatMap((group) => nextStep(group) ?? []);
    const { create = [], change = [] } = Object.groupBy(next, ({ step }) => (step.present ? 'change' : 'create'));
    await Promise.all([commitSteps(options, create), commitSteps(options, change)]);
    open = open.filter(({ writes }) => writes.length > 0);
  }
}

async function readPresent({ transactions, toError }: CommitBatchOptions, groups: PendingGroup[]): Promise<void> {
  if (groups.length === 0) return;
  try {
    const ids = groups.map(({ id }) => id);
    const rows = new Map((await readPlants(transactions, ids)).map((row) => [row.id, row]));
    for (const group of groups) Object.assign(group, { row: rows.get(group.id), seen: 'read' });
  } catch (error) {
    failAll(groups, toError(error));
  }
}

async function commitSteps(options: CommitBatchOptions, next: NextStep[]): Promise<void> {
  if (next.length === 0) return;
  const steps = next.map(({ step }) => step);
  try {
    const startMs = performance.now();
    const outcomes = await withRetries(() => writeSteps(options.transactions, steps));
    options.observe({ kind: 'commit', writes: steps.length, durationMs: performance.now() - startMs });
    const hasChanges = next.map((one, at) => applyOutcome(one, outcomes[at] as Outcome)).includes(true);
    options.onCommit(hasChanges);
  } catch (error) {
    const isBug = error instanceof TransactionError && error.failure === 'bug' && !error.unknown;
    if (isBug && next.length > 1) {
      for (const one of next) await commitSteps(options, [one]); // isolates the step that fails
      return;
    }
    failAll(
      next.map(({ group }) => group),
      options.toError(error),
    );
  }
}

/** Applies the outcome of a step. Returns true if the step changed a record. */
function applyOutcome({ group, step: { write, action, present } }: NextStep, outcome: Outcome): boolean {
  group.seen = 'committed';
  if ('present' in outcome) {
    group.row = outcome.present;
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
}

type NextStep = { group: PendingGroup; step: Step };

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
