// Whether memory and open files stay where they are, told from samples at even distances.

export interface Sample {
  seconds: number;
  residentMib: number;
  files: number;
  /** Requests so far. */
  answered: number;
  p99Ms: number;
}

/** What differs less is noise: a garbage collection more or less, a connection more or less. */
const MEMORY_GROWTH = 0.05;
const MEMORY_NOISE_MIB = 8;
const FILES_NOISE = 10;

export interface Level {
  middle: number;
  end: number;
  isFlat: boolean;
}

/** The first third is left out, in which it warms up; the middle third is compared with the last. */
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
