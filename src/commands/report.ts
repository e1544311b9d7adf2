// What a command says when it is done: words on a terminal, JSON when piped.

export function wantsJson({ json }: { json?: boolean }): boolean {
  return json === true || !process.stdout.isTTY;
}

export function report(words: string, json: object): void {
  process.stdout.write(process.stdout.isTTY ? `${words}\n` : `${JSON.stringify(json)}\n`);
}
