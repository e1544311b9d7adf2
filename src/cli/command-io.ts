// The part of a process that commands use. A test passes streams and an environment of its own.

import type { Readable, Writable } from 'node:stream';
import type { Config } from '../config/config.ts';

export interface CommandIo {
  env: Record<string, string | undefined>;
  readonly stdin: Readable;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Exit status of a command that ends without an error; 0 if it is not set. */
  exitCode?: number | string | null | undefined;
  /** Listens to a signal by its name, or to `uncaughtException`. */
  on(event: string, listener: (error: Error) => void): unknown;
  once(event: string, listener: (error: Error) => void): unknown;
}

export interface Output extends Writable {
  isTTY?: boolean;
  columns?: number;
}

/** What the action of a command receives before its arguments. */
export interface CommandContext {
  io: CommandIo;
  config: Config;
}
