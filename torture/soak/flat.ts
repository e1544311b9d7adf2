// Decides from evenly spaced samples whether memory and open files stay flat.

export interface Sample {
  seconds: number;
  residentMib: number;
  files: number;
  /** Number of responses so far. */
  answered: number;
  p99Ms: number;
}

/** Smaller differences are noise, such as one more garbage collection or connection. */
const MEMORY_GROWTH = 0.05;
const MEMORY_NOISE_MIB = 8;
const FILES_NOISE = 10;

export interface Level {
  middle: number;
  end: number;
  isFlat: boolean;
}

/** Compares the middle third of the samples with the last third. Ignores the first third, the warm-up. */
export function judge(samples: Sample[]): { memory: Level; files: Level } {
  const third = Math.floor(samples.length / 3);
  const middle = samples.slice(third, 2 * third);
  const end = samples.slice(2 * third);
  const memory = levels(({ residentMib }) => residentMib);
  const files = levels((sample) => sample.files);
  return {
    memory: {
      ...memory,
      isFlat: memory.end - memory.middle <= Math.max(MEMORY_NOISE_MIB, memory.middle * MEMORY_GROWTH),
    },
    files: { ...files, isFlat: files.end - files.middle <= FILES_NOISE },
  };

  function levels(valueIn: (sample: Sample) => number): { middle: number; end: number } {
    return { middle: medianOf(middle.map(valueIn)), end: medianOf(end.map(valueIn)) };
  }
}

function medianOf(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
