// Numbers and quantities as the console shows them.

const format = new Intl.NumberFormat('en-US');

export function number(value: number): string {
  return format.format(value);
}

/** Returns the number with its noun: "1 plant", "2,207 plants". */
export function count(value: number, noun: string, plural = `${noun}s`): string {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Returns a size in decimal units: "48.2 MB". */
export function bytes(value: number): string {
  let unit = 0;
  let rest = value;
  for (; rest >= 999.5 && unit < UNITS.length - 1; unit++) rest /= 1000;
  return `${unit === 0 || rest >= 99.95 ? Math.round(rest) : rest.toFixed(1)} ${UNITS[unit]}`;
}
