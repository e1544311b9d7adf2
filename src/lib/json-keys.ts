// V8 can take a key with an escape in it for another that it has read before: after {"id":1,"\\u00":2} it reads
// {"id":1,"\u006eame":2} as that one, and the name is gone. So a key that can do without escapes is written without.
// (One that cannot, such as "\n", may still be misread, but never as one of ours, which need none.)

/** True also for some texts that have none: it is quicker than to be sure. */
export function mayHaveEscapedKey(text: string): boolean {
  if (!text.includes('\\')) return false; // as nearly everybody sends it
  for (let colon = text.indexOf(':'); colon !== -1; colon = text.indexOf(':', colon + 1)) {
    let end = colon - 1;
    while (isBlank(text.charCodeAt(end))) end--;
    if (text.charCodeAt(end) !== QUOTE) continue;
    const start = text.lastIndexOf('"', end - 1);
    if (text.slice(Math.max(0, start - 1), end).includes('\\')) return true;
  }
  return false;
}

/** The same JSON. What is none stays none. */
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

/** Returns the last quotation mark of the string that begins at `start`, or -1. */
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

export function isBlank(char: number | undefined): boolean {
  return char === 0x20 || char === 0x09 || char === 0x0a || char === 0x0d;
}

/** By itself a string is read right. */
function plain(key: string): string {
  try {
    return JSON.stringify(JSON.parse(key));
  } catch {
    return key;
  }
}
