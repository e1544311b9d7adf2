// Texts of strangers on a terminal: nothing in them moves the cursor or changes a colour, and how wide they are.

import { eastAsianWidth } from 'get-east-asian-width';

const PLAIN = /^[\x20-\x7e]*$/;
/** Emoji and words of some scripts hold joiners that belong there; all else that has no shape of its own is told. */
const KEPT_OR_SHAPELESS =
  /\p{RGI_Emoji}|(?<=[\p{L}\p{M}])[\u200c-\u200d](?=\p{L})|([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gv;
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };
const EMOJI = /^\p{RGI_Emoji}$/v;
/** Marks sit on the letter before them, vowels and ends of Hangul in its block. */
const WITHOUT_WIDTH = /^[\p{Mn}\p{Me}\u200c-\u200d\u1160-\u11ff]$/u;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** With escapes for what must not reach a terminal: `\n`, `\x1b`, `\u{202e}`. */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(KEPT_OR_SHAPELESS, (found, shapeless?: string) =>
    shapeless === undefined ? found : toEscape(shapeless),
  );
}

/** In columns of a terminal. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

export function padTo(width: number, text: string): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** What is longer ends with `…`. */
export function cutTo(width: number, text: string): string {
  if (text.length <= width && PLAIN.test(text)) return text;
  let kept = '';
  let keptWidth = 0;
  let fitting = ''; // with the mark
  for (const { segment } of graphemes.segment(text)) {
    keptWidth += widthOfGrapheme(segment);
    if (keptWidth > width) return `${fitting}…`;
    kept += segment;
    if (keptWidth < width) fitting = kept;
  }
  return kept;
}

function toEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return SHORT[character] ?? (hex.length <= 2 ? `\\x${hex.padStart(2, '0')}` : `\\u{${hex}}`);
}

function widthOfGrapheme(segment: string): number {
  if (EMOJI.test(segment)) return 2;
  let width = 0;
  for (const character of segment) {
    if (!WITHOUT_WIDTH.test(character)) width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
