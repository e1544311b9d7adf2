// Prints the outcome: counts, and all violations.

import type { Ledger, Phase } from './ledger.ts';
import type { Findings } from './verify.ts';

/** Maximum number of lines per kind of violation. */
const SHOWN = 20;

export interface Outcome {
  ledger: Ledger;
  findings: Findings;
  /** Longest times without an acknowledged write, by fault. */
  pausesMs: Map<string, number[]>;
}

/** Prints the report. Returns true if the trial passed. */
export function printReport({ ledger, findings, pausesMs }: Outcome): boolean {
  const { phases, plants, contests, acknowledged, replayed, read, followed } = ledger;
  const violations = [...ledger.violations, ...findings.violations, ...phases.flatMap(notAllowed)];
  printTable({
    'writes acknowledged': `${acknowledged}, for ${plants.size} plants`,
    'first response was lost': replayed,
    'acknowledged and lost': findings.lost.length,
    'reads of acknowledged plants': read,
    'plants stored': findings.stored,
    'ids requested by two clients': contests,
    'changes in the change log': findings.changes,
    'changes followed': followed.length,
  });
  console.log('\nResponses');
  printTable(Object.fromEntries(phases.map(({ title, answers }) => [title, String(answers)])));
  console.log('\nLongest time without a write (count: min / median / max)');
  printTable(Object.fromEntries([...pausesMs].map(([what, all]) => [what, printPauses(all)])));
  printAll('LOST', findings.lost);
  printAll('VIOLATED', violations);
  const isWell = findings.lost.length + violations.length === 0;
  console.log(isWell ? '\nPASSED: no acknowledged write was lost' : '\nFAILED');
  return isWell;
}

function notAllowed({ title, allowed, answers }: Phase): string[] {
  const others = [...answers].filter(([answer]) => !allowed.includes(answer));
  return others.map(([answer, count]) => `${title}: ${count} × ${answer}`);
}

function printTable(rows: Record<string, string | number>): void {
  for (const [what, value] of Object.entries(rows)) console.log(`  ${what.padEnd(34)}${value}`);
}

function printPauses(pausesMs: number[]): string {
  const sorted = pausesMs.toSorted((a, b) => a - b);
  const all = [sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
  const seconds = all.map((ms) => (ms === undefined ? '-' : `${(ms / 1000).toFixed(2)} s`));
  return `${pausesMs.length}: ${seconds.join(' / ')}`;
}

function printAll(title: string, lines: string[]): void {
  for (const line of lines.slice(0, SHOWN)) console.log(`${title}: ${line}`);
  if (lines.length > SHOWN) console.log(`${title}: and ${lines.length - SHOWN} more`);
}
