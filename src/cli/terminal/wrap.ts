// Breaks text into lines that fit a terminal.

import { displayWidth } from '../../lib/safe-text.ts';

/** Text in lines that are shorter is hard to read. */
const MIN_WIDTH = 20;

/** Breaks a text at its spaces into lines of the given width. A word that is longer, such as a path, stays whole. */
export function wrap(text: string, width: number): string[] {
  const [first = '', ...words] = text.split(' ');
  const lines = [first];
  for (const word of words) {
    const longer = `${lines.at(-1)} ${word}`;
    if (displayWidth(longer) <= Math.max(width, MIN_WIDTH)) lines.splice(-1, 1, longer);
    else lines.push(word);
  }
  return lines;
}
