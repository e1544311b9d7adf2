// The outcome of a fault, and the table that `npm run torture` prints.

export interface Outcome {
  fault: string;
  mark: string;
  rounds: string;
  seed: string;
  /** What the trial saw, why it failed, or why it was not tried. */
  seen: string;
  verdict: 'passed' | 'FAILED' | 'skipped';
  controls: { caught: number; of: number };
  seconds: number;
}

/** Returns a table in Markdown. */
export function printOutcomes(outcomes: Outcome[]): string {
  const head = ['fault', 'rounds', 'pass mark', 'result', 'seen', 'controls caught', 'seed', 'time'];
  const rows = outcomes.map(({ fault, rounds, mark, verdict, seen, controls, seed, seconds }) => [
    fault,
    rounds,
    mark,
    verdict,
    seen,
    `${controls.caught} of ${controls.of}`,
    seed,
    `${seconds.toFixed(0)} s`,
  ]);
  const lines = [head, head.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map(escapeCell).join(' | ')} |\n`).join('');
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
