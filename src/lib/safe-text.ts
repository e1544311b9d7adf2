// Makes untrusted text safe to show on a terminal, so that it cannot move the cursor or change a colour. Also measures
// the width of text.

import { eastAsianWidth } from 'get-east-asian-width';

const PLAIN = /^[\x20-\x7e]*$/;
/** Characters that JSON does not escape: DEL, C1 controls, line separators and format characters such as U+202E. */
const UNSAFE_IN_JSON = /[\x7f-\x9f\p{Cf}\u2028\u2029]/gu;
const NOT_ASCII = /[^\0-\x7e]/;
const SHORT: Record<string, string> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Patterns for text that is not plain ASCII. Creating them takes 50 ms, so they are created on first use. */
let unicode: ReturnType<typeof createUnicode> | undefined;
const getUnicode = () => (unicode ??= createUnicode());

function createUnicode() {
  return {
    /** Matches emoji and joiners within words, which are kept, and captures invisible characters, which are escaped. */
    keptOrInvisible: /\p{RGI_Emoji}|(?<=[\p{L}\p{M}])[\u200c-\u200d](?=\p{L})|([\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}])/gv,
    emoji: /^\p{RGI_Emoji}$/v,
    /** Matches characters without width: combining marks, joiners, and Hangul vowels and finals. */
    withoutWidth: /^[\p{Mn}\p{Me}\u200c-\u200d\u1160-\u11ff]$/u,
    graphemes: new Intl.Segmenter('en', { granularity: 'grapheme' }),
  };
}

/** Returns the text with escapes for characters that are unsafe on a terminal: `\n`, `\x1b`, `\u{202e}`. */
export function toSafeText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(getUnicode().keptOrInvisible, (found, invisible?: string) =>
    invisible === undefined ? found : toEscape(invisible),
  );
}

/** Like `toSafeText`, but keeps line feeds. */
export function toSafeLines(text: string): string {
  return text.split('\n').map(toSafeText).join('\n');
}

/** Returns JSON of the same value that is safe to show on a terminal. */
export function toSafeJson(json: string): string {
  if (!NOT_ASCII.test(json)) return json;
  return json.replace(UNSAFE_IN_JSON, (found) => {
    const units = found.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((hex) => `\\u${hex}`).join('');
  });
}

/** Returns the width of a text in terminal columns. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const { graphemes } = getUnicode();
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** Returns the text, padded with spaces to the given width. */
export function padToWidth(width: number, text: string): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Returns the text, cut to the given width. A cut text ends with `…`. */
export function cutToWidth(width: number, text: string): string {
  if (text.length <= width && PLAIN.test(text)) return text;
  const { graphemes } = getUnicode();
  let kept = '';
  let keptWidth = 0;
  let fitting = ''; // the longest part that leaves room for the `…`
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
  const { emoji, withoutWidth } = getUnicode();
  if (emoji.test(segment)) return 2;
  let width = 0;
  for (const character of segment) {
    if (!withoutWidth.test(character)) width += eastAsianWidth(character.codePointAt(0) ?? 0);
  }
  return width;
}
