// Indents JSON as text. Parsing it would round ids of 64 bits.

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** Returns the JSON with a line for each field. Returns any other text as it is. */
export function indentJson(text: string): string {
  if (!isJson(text)) return text;
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let out = '';
  tokens.forEach((token, index) => {
    const isEmpty = /[}\]]/.test(tokens[index + 1] ?? '') && /^[{[]$/.test(token);
    if (/^[}\]]$/.test(token)) {
      depth--;
      if (!/^[{[]$/.test(tokens[index - 1] ?? '')) out += line(depth);
    }
    out += token;
    if (/^[{[]$/.test(token)) {
      depth++;
      if (!isEmpty) out += line(depth);
    } else if (token === ',') out += line(depth);
    else if (token === ':') out += ' ';
  });
  return out;
}

function line(depth: number): string {
  return `\n${'  '.repeat(depth)}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
