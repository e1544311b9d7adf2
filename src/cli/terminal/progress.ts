// Shows the progress of a long command on standard error: a bar on a terminal, otherwise a line every 5 s.

import { toSafeText } from '../../lib/safe-text.ts';
import { undoAtEnd } from '../../lib/undo-at-end.ts';
import type { Output } from '../command-io.ts';
import { countOf } from './report.ts';

const REDRAW_MS = 100;
const LINE_EVERY_MS = 5000;
const BAR_WIDTH = 30;
const ERASE_LINE = '\r\x1b[K';
/** Hides the cursor, and truncates a bar that is wider than the terminal instead of wrapping it. */
const BEGIN_BAR = '\x1b[?25l\x1b[?7l';
const END_BAR = `${ERASE_LINE}\x1b[?7h\x1b[?25h`;

export interface Progress {
  /** Updates the progress. `done` has the unit of the total. `count` is the number of plants or rows so far. */
  update(done: number, count: number): void;
  /** Prints a line above the bar, with control characters escaped. */
  printLine(line: string): void;
  /** Restores the terminal. The end of the process does it as well. */
  stop(): void;
}

interface ProgressOptions {
  /** Noun for what is counted, in the singular. */
  unit?: string;
  /** True for a bar, false for a line every 5 s. The default is a bar on a terminal. */
  isBar?: boolean;
}

/** Starts to show progress. Without a total, it shows neither the percentage nor the remaining time. */
export function startProgress(
  output: Output,
  verb: string,
  total: number | undefined,
  { unit = 'plant', isBar = output.isTTY === true }: ProgressOptions = {},
): Progress {
  const startMs = performance.now();
  let shownMs = isBar ? Number.NEGATIVE_INFINITY : startMs;
  let isStopped = false;
  if (isBar) output.write(BEGIN_BAR);
  const stop = undoAtEnd(() => {
    isStopped = true;
    if (isBar) output.write(END_BAR);
  });
  update(0, 0);
  return { update, printLine, stop };

  function update(done: number, count: number): void {
    const nowMs = performance.now();
    if (isStopped || nowMs - shownMs < (isBar ? REDRAW_MS : LINE_EVERY_MS)) return;
    shownMs = nowMs;
    const seconds = (nowMs - startMs) / 1000;
    const counted = countOf(count, unit);
    const rate = `${Math.round(count / Math.max(seconds, 0.001)).toLocaleString('en')}/s`;
    const left = total && done > 0 ? printSeconds(Math.ceil((seconds * (total - done)) / done)) : '?';
    const share = Math.min(1, done / (total ?? 1));
    const percent = Math.floor(100 * share);
    if (!isBar) {
      output.write(`${verb}: ${total ? `${percent} %, ` : ''}${counted}, ${rate}${total ? `, ${left} left` : ''}\n`);
    } else if (total) {
      const bar = '='.repeat(Math.round(share * BAR_WIDTH)).padEnd(BAR_WIDTH, '-');
      output.write(`${ERASE_LINE}${verb} ${bar} ${percent} % | ${counted} | ${rate} | ${left} left`);
    } else {
      output.write(`${ERASE_LINE}${verb} ${counted} | ${rate}`);
    }
  }

  function printLine(line: string): void {
    output.write(`${isBar ? ERASE_LINE : ''}${toSafeText(line)}\n`);
  }
}

function printSeconds(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
