// The steps of a chart's axis: round numbers, at most five.

const MAX_STEPS = 5;
const ROUND = [1, 2, 2.5, 5];

/** Returns the values at the lines of the axis, from the top down to 0. */
export function ticksOf(most: number): number[] {
  const step = stepOf(most);
  const steps = Math.max(1, Math.ceil(most / step));
  return Array.from({ length: steps + 1 }, (_, at) => (steps - at) * step);
}

function stepOf(most: number): number {
  for (let power = 1; ; power *= 10) {
    const step = ROUND.map((round) => round * power).find((step) => Number.isInteger(step) && most / step <= MAX_STEPS);
    if (step !== undefined) return step;
  }
}
