// The exit statuses of commands, and which error ends a command with which of them.

import { UsageError, UserError } from '../lib/user-error.ts';

export const EXIT_STATUS = {
  failed: 1,
  wrongUsage: 2,
  notFound: 3,
  conflict: 4,
  credentials: 5,
  outOfReach: 6,
} as const;
export type ExitStatus = (typeof EXIT_STATUS)[keyof typeof EXIT_STATUS];

/** A UserError with an exit status of its own, for what a server has responded. */
export class CommandError extends UserError {
  readonly exitStatus: ExitStatus;

  constructor(message: string, exitStatus: ExitStatus = EXIT_STATUS.failed) {
    super(message);
    this.exitStatus = exitStatus;
  }
}

/** Returns the exit status of a command that ends with this error. */
export function exitStatusOf(error: Error): ExitStatus {
  if (error instanceof CommandError) return error.exitStatus;
  return error instanceof UsageError ? EXIT_STATUS.wrongUsage : EXIT_STATUS.failed;
}
