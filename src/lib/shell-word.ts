// Quotes text for a shell.

const PLAIN = /^[\w./:@+-]+$/;

/** Returns a text as one word of a shell command, in quotes if it has special characters. */
export function toShellWord(text: string): string {
  if (PLAIN.test(text)) return text;
  return process.platform === 'win32' ? `"${text}"` : `'${text.replaceAll("'", `'\\''`)}'`;
}
