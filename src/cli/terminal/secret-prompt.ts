// Asks for a secret on the terminal, without echo.

import { undoAtEnd } from '../../lib/undo-at-end.ts';
import type { CommandIo } from '../command-io.ts';
import { onInterrupt } from '../interrupt.ts';

/** Sequences that a terminal sends for arrow keys and around pasted text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal sends them
const ESCAPE_SEQUENCES = /\x1b(\[[0-9;]*[A-Za-z~]|O[A-Z])/g;
const CTRL_C = '\x03';
const CTRL_U = '\x15';
const CTRL_D = '\x04';
const ENDS = ['\r', '\n', CTRL_D];
const BACKSPACES = ['\x7f', '\b'];

/** Returns the typed or pasted line, or undefined after Ctrl-C. The question goes to standard error. */
export async function askSecret(io: CommandIo, question: string): Promise<string | undefined> {
  const { stdin, stderr } = io;
  const restore = undoAtEnd(() => {
    stdin.setRawMode?.(false);
    stderr.write('\n');
  });
  onInterrupt(io, 'Nothing was saved.');
  stdin.setEncoding('utf8');
  stdin.setRawMode?.(true); // before the question, because a user or a program can reply to it at once
  stderr.write(question);
  try {
    let line = '';
    for await (const chunk of stdin.iterator({ destroyOnReturn: false })) {
      for (const key of String(chunk).replaceAll(ESCAPE_SEQUENCES, '')) {
        if (key === CTRL_C) return undefined;
        if (ENDS.includes(key)) return line;
        if (key === CTRL_U) line = '';
        else if (BACKSPACES.includes(key)) line = line.slice(0, -1);
        else line += key;
      }
    }
    return undefined; // the terminal is closed
  } finally {
    restore();
    stdin.pause();
  }
}
