// Compares texts by their code points, as databases compare the bytes of UTF-8. JavaScript compares UTF-16 units.

export function compareCodePoints(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return rankOf(a.charCodeAt(at)) - rankOf(b.charCodeAt(at));
}

/** Returns the sort rank of a UTF-16 unit: surrogates sort after all other characters, the end (NaN) before them. */
function rankOf(unit: number): number {
  if (Number.isNaN(unit)) return -1;
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

/** Returns the first `count` code points of a text. */
export function cutToCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let points = 0; points < count && end < text.length; points++) {
    end += (text.codePointAt(end) as number) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
