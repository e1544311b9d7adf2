// Finds the end of a record: a line feed, which in CSV must be outside quotation marks. Also runs in browsers.

/** Maximum size of a record: a name and a tag of 64 KiB each, with every byte escaped as six bytes. */
export const MAX_RECORD_BYTES = 1024 * 1024;
export const NEWLINE = 0x0a;
export const CARRIAGE_RETURN = 0x0d;
export const QUOTE = 0x22;
export const COMMA = 0x2c;

/** Result for a record in which text follows the closing quotation mark of a cell. */
export const NOT_CSV = -2;

/**
 * Returns a function that finds the end of the CSV record at `start`. It returns -1 if the end has not arrived yet. A
 * quotation mark counts only at the start of a cell. In a quoted cell, two of them stand for one.
 */
export function createEndOfQuoted(bytes: Uint8Array, delimiter = COMMA): (start: number) => number {
  let nextQuote = bytes.indexOf(QUOTE);

  return (start) => {
    let end = bytes.indexOf(NEWLINE, start);
    let at = start;
    for (;;) {
      if (nextQuote !== -1 && nextQuote < at) nextQuote = bytes.indexOf(QUOTE, at);
      if (nextQuote === -1 || (end !== -1 && nextQuote > end)) return end;
      const open = nextQuote;
      at = open + 1;
      if (open !== start && bytes[open - 1] !== delimiter) continue;
      const close = endOfQuotedCell(bytes, at);
      if (close === -1 || close + 1 === bytes.length) return -1;
      if (![delimiter, NEWLINE, CARRIAGE_RETURN].includes(bytes[close + 1] as number)) return NOT_CSV;
      at = close + 1;
      if (end !== -1 && end < close) end = bytes.indexOf(NEWLINE, close);
    }
  };
}

/** Returns the position of the closing quotation mark, or -1. `start` is behind the opening one. */
export function endOfQuotedCell(bytes: Uint8Array, start: number): number {
  for (let at = start; ; at += 2) {
    if (bytes[at] !== QUOTE) at = bytes.indexOf(QUOTE, at); // indexOf() is slow if it finds something at once
    if (at === -1 || bytes[at + 1] !== QUOTE) return at;
  }
}

export function countNewlines(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE, start); at !== -1 && at < end; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
