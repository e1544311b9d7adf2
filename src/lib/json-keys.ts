// Works around a bug in V8, which can confuse a key that contains an escape with an earlier key. After
// {"id":1,"\\u00":2}, V8 reads {"id":1,"\u006eame":2} as that key, and the name is lost. This file removes unnecessary
// escapes from keys. V8 can still misread keys that need an escape, such as "\n", but never as a field of the API,
// because those need none.

/** True if a key may contain an escape. It can be wrongly true, because an exact check is slower. */
export function mayHaveEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false; // the usual case
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let end = colon - 1;
    while (isBlank(text.charCodeAt(end))) end--;
    if (text.charCodeAt(end) !== QUOTE) continue;
    const start = text.lastIndexOf('"', end - 1);
    if (text.slice(Math.max(0, start - 1), end).includes('\\')) return true;
  }
  return false;
}

/** Returns the same JSON without unnecessary escapes in keys. Invalid JSON remains invalid. */
export function withPlainKeys(text: string): string {
  if (!mayHaveEscapedKey(text)) return text;
  const parts: string[] = [];
  let copied = 0;
  for (let start = text.indexOf('"'); start !== -1; ) {
    const end = endOfString(text, start);
    if (end === -1) return text;
    let next = end + 1;
    while (isBlank(text.charCodeAt(next))) next++;
    const isKey = text.charCodeAt(next) === COLON;
    if (isKey && text.slice(start, end).includes('\\')) {
      parts.push(text.slice(copied, start), plain(text.slice(start, end + 1)));
      copied = end + 1;
    }
    start = text.indexOf('"', next);
  }
  return parts.join('') + text.slice(copied);
}

/** Returns the position of the closing quotation mark of the string at `start`, or -1. */
export function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return -1;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** True for the white space of JSON. */
export function isBlank(char: number | undefined): boolean {
  return char === 0x20 || char === 0x09 || char === 0x0a || char === 0x0d;
}

/** Returns the key without unnecessary escapes. V8 reads a string outside an object correctly. */
function plain(key: string): string {
  try {
    return JSON.stringify(JSON.parse(key));
  } catch {
    return key;
  }
}
