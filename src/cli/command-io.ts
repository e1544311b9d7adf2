// Defines the part of a process that commands use. Tests pass their own streams and environment.

import type { Readable, Writable } from 'node:stream';
import type { Config } from '../config/config.ts';

export interface CommandIo {
  env: Record<string, string | undefined>;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Exit status of a command that ends without an error. The default is 0. */
  exitCode?: number | string | null | undefined;
  /** Adds a listener for a signal, by its name, or for `uncaughtException`. */
  on(event: string, listener: (error: Error) => void): unknown;
}

interface Input extends Readable {
  isTTY?: boolean;
  /** On a terminal: true passes each key on at once, without echo. */
  setRawMode?(isRaw: boolean): unknown;
}

export interface Output extends Writable {
  isTTY?: boolean;
  columns?: number;
}

/** The first parameter of a command's action, before its arguments. */
export interface CommandContext {
  io: CommandIo;
  config: Config;
}
