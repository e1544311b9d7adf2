// A batch of writes is worked off: as many transactions as it takes until each has its answer, nearly always one.

import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '../../domain/errors.ts';
import type { Observe } from '../../observability/service-events.ts';
import type { PlantRow } from '../row-mapping.ts';
import { actionOf, nextRow, type PlantWrite, type Rejection, resultOf } from '../write-rules.ts';
import { TransactionError } from './pg-errors.ts';
import { readPlants } from './plants-read.ts';
import { type Outcome, type Step, writeSteps } from './plants-write.ts';
import type { Transactions } from './transaction.ts';

/** Another node was first, each time. */
const MAX_ATTEMPTS = 20;
const RETRY_MS = 20;

/** What became of a write: what it gives, why it was refused, or why nobody knows. */
export type Written = { done: unknown } | Rejection | Error;

export interface Waiting {
  write: PlantWrite;
  settle(written: Written): void;
}

/** The writes to one id, in order. */
export interface Group {
  id: bigint;
  queue: Waiting[];
  /** Called before the last of them hears of its answer: the id is free for others. */
  finish(): void;
}

export interface WorkOffOptions {
  transactions: Transactions;
  observe: Observe;
  /** After each commit. */
  onCommit(changed: boolean): void;
  toError(error: unknown): Error;
}

/** The function never throws: what went wrong is told to those who wait. */
export function createWorkOff(options: WorkOffOptions): (groups: Group[]) => Promise<void> {
  const { transactions, observe, onCommit, toError } = options;
  return async (groups) => {
    const works = groups.map((group): Work => ({ ...group, row: undefined, seen: 'not yet' }));
    await look(works.filter(({ queue }) => queue[0]?.write.kind !== 'create'));
    const maxAttempts = MAX_ATTEMPTS + longest(works);
    let open = works;
    for (let attempt = 0; open.length > 0; attempt++) {
      if (attempt === maxAttempts) giveUp(open, unavailable('The record is changed by many: try again later'));
      const todo = open.flatMap((work) => nextStep(work) ?? []);
      await Promise.all([
        commit(todo.filter(({ step }) => step.present === undefined)),
        commit(todo.filter(({ step }) => step.present !== undefined)),
      ]);
      open = open.filter(({ queue }) => queue.length > 0);
    }
  };

  async function look(works: Work[]): Promise<void> {
    if (works.length === 0) return;
    try {
      const ids = works.map(({ id }) => id);
      const rows = new Map((await readPlants(transactions, ids)).map((row) => [row.id, row]));
      for (const work of works) Object.assign(work, { row: rows.get(work.id), seen: 'read' });
    } catch (error) {
      giveUp(works, toError(error));
    }
  }

  async function commit(todo: Todo[]): Promise<void> {
    if (todo.length === 0) return;
    const steps = todo.map(({ step }) => step);
    try {
      const begunMs = performance.now();
      const written = await withRetries(() => writeSteps(transactions, steps));
      observe({ kind: 'commit', writes: steps.length, durationMs: performance.now() - begunMs });
      take(todo, written);
    } catch (error) {
      const isBug = error instanceof TransactionError && error.failure === 'bug' && !error.unknown;
      if (isBug && todo.length > 1)
        for (const one of todo) await commit([one]); // it is the fault of one of them
      else
        giveUp(
          todo.map(({ work }) => work),
          toError(error),
        );
    }
  }

  function take(todo: Todo[], outcomes: Outcome[]): void {
    let changed = false;
    for (const [at, { work, step }] of todo.entries()) {
      const outcome = outcomes[at] as Outcome;
      work.seen = 'committed';
      if ('present' in outcome) {
        work.row = outcome.present;
        continue;
      }
      const { write, action, present } = step;
      if ('kept' in outcome) {
        answer(work, { done: resultOf(write, present as PlantRow, true) });
        continue;
      }
      changed = true;
      work.row = action.does === 'store' ? nextRow(write, present, action.plant, outcome.seq) : undefined;
      answer(work, { done: work.row ? resultOf(write, work.row, false) : null });
    }
    onCommit(changed);
  }

  async function withRetries<T>(attempt: () => Promise<T>): Promise<T> {
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        const again = error instanceof TransactionError && error.failure === 'conflict' && !error.unknown;
        if (!again || attempts === MAX_ATTEMPTS) throw error;
        await sleep(Math.random() * RETRY_MS);
      }
    }
  }
}

/** With the record that the first of them will find. */
interface Work extends Group {
  row: PlantRow | undefined;
  /** What was only read may not yet be safe on every disk it should be on; what a commit of ours found, is. */
  seen: 'not yet' | 'read' | 'committed';
}

interface Todo {
  work: Work;
  step: Step;
}

/** Answers what needs no step, in order, and gives the first that does. */
function nextStep(work: Work): Todo | undefined {
  for (let next = work.queue[0]; next; next = work.queue[0]) {
    const { write } = next;
    const action = actionOf(write, work.row);
    if (action.does === 'reject') answer(work, action);
    else if (action.does === 'keep' && work.seen === 'committed') {
      answer(work, { done: resultOf(write, work.row as PlantRow, true) });
    } else return { work, step: { write, present: work.row, action } };
  }
  return undefined;
}

function answer({ queue, finish }: Work, written: Written): void {
  const { settle } = queue.shift() as Waiting;
  if (queue.length === 0) finish();
  settle(written);
}

function giveUp(works: Work[], error: Error): void {
  for (const work of works) while (work.queue.length > 0) answer(work, error);
}

function longest(works: Work[]): number {
  return Math.max(...works.map(({ queue }) => queue.length));
}
