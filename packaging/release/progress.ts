// Prints the steps of a release: one line per step when it ends, and on a terminal also the step in progress.

import type { WriteStream } from 'node:tty';
import { styleText } from 'node:util';

const CLEAR_LINE = '\r\x1b[K';

export interface Step<T> {
  /** Text while the step is in progress. */
  doing: string;
  run: () => Promise<T>;
  /** Text when the step has succeeded. */
  done: (result: T) => string;
}

export class Progress {
  readonly #stream: WriteStream;

  constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  /** Runs a step. A failed step keeps its line, and its error goes to the caller. */
  async step<T>({ doing, run, done }: Step<T>): Promise<T> {
    const start = performance.now();
    if (this.#stream.isTTY) this.#stream.write(`… ${doing}`);
    try {
      const result = await run();
      const seconds = ((performance.now() - start) / 1000).toFixed(1);
      this.#endLine(`${this.style('green', '✔')} ${done(result)} ${this.style('dim', `(${seconds} s)`)}`);
      return result;
    } catch (error) {
      this.#endLine(`${this.style('red', '✘')} ${doing}`);
      throw error;
    }
  }

  print(line: string): void {
    this.#stream.write(`${line}\n`);
  }

  warn(line: string): void {
    this.print(`${this.style('yellow', '!')} ${line}`);
  }

  style(format: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string): string {
    return styleText(format, text, { stream: this.#stream });
  }

  #endLine(line: string): void {
    this.print(`${this.#stream.isTTY ? CLEAR_LINE : ''}${line}`);
  }
}

export function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
