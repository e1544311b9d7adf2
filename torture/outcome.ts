// The outcome of a fault, and the Markdown table that `npm run torture` prints.

export interface Outcome {
  fault: string;
  mark: string;
  rounds: string;
  seed: string;
  /** The trial's observations, or the reason why it failed or was skipped. */
  seen: string;
  verdict: 'passed' | 'FAILED' | 'skipped';
  controls: { caught: number; of: number };
  seconds: number;
}

/** Returns the outcomes as a Markdown table. */
export function printOutcomes(outcomes: Outcome[]): string {
  const head = ['Fault', 'Rounds', 'Pass mark', 'Result', 'Observed', 'Controls caught', 'Seed', 'Time'];
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
