// Texts of strangers on a terminal: nothing in them moves the cursor or changes a colour, and how wide they are.

import { eastAsianWidth } from 'get-east-asian-width';

const PLAIN = /^[\x20-\x7e]*$/;
/** JSON lets these stand in a string as they are: DEL, C1 controls, line separators and what has no shape, such as U+202E. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\p{Cf}\u2028\u2029]/gu;
const NOT_ASCII = /[^\0-\x7e]/;
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Of what is not plain. It takes 50 ms to make, so it is not made before it is needed. */
let unicode: ReturnType<typeof createUnicode> | undefined;
const knowUnicode = () => (unicode ??= createUnicode());

function createUnicode() {
  return {
    /** Emoji and words of some scripts hold joiners that belong there; all else that has no shape of its own is told. */
    keptOrShapeless: /\p{RGI_Emoji}|(?<=[\p{L}\p{M}])[\u200c-\u200d](?=\p{L})|([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gv,
    emoji: /^\p{RGI_Emoji}$/v,
    /** Marks sit on the letter before them, vowels and ends of Hangul in its block. */
    withoutWidth: /^[\p{Mn}\p{Me}\u200c-\u200d\u1160-\u11ff]$/u,
    graphemes: new Intl.Segmenter('en', { granularity: 'grapheme' }),
  };
}

/** With escapes for what must not reach a terminal: `\n`, `\x1b`, `\u{202e}`. */
export function toSafeText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(knowUnicode().keptOrShapeless, (found, shapeless?: string) =>
    shapeless === undefined ? found : toEscape(shapeless),
  );
}

/** The same for a text of several lines, which stay lines. */
export function toSafeLines(text: string): string {
  return text.split('\n').map(toSafeText).join('\n');
}

/** JSON of the same value that is safe to show on a terminal. */
export function toSafeJson(json: string): string {
  if (!NOT_ASCII.test(json)) return json;
  return json.replace(UNSAFE_IN_JSON, (found) => {
    const units = found.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((hex) => `\\u${hex}`).join('');
  });
}

/** In columns of a terminal. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const { graphemes } = knowUnicode();
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

export function padToWidth(width: number, text: string): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** What is longer ends with `…`. */
export function cutToWidth(width: number, text: string): string {
  if (text.length <= width && PLAIN.test(text)) return text;
  const { graphemes } = knowUnicode();
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
  const { emoji, withoutWidth } = knowUnicode();
  if (emoji.test(segment)) return 2;
  let width = 0;
  for (const character of segment) {
    if (!withoutWidth.test(character)) width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
