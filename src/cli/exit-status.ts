// Defines the exit statuses of commands and maps errors to them.

import { type ErrorCode, PlantStoreError } from '../domain/errors.ts';
import { UsageError, UserError } from '../lib/user-error.ts';

export const EXIT_STATUS = {
  failed: 1,
  wrongUsage: 2,
  notFound: 3,
  conflict: 4,
  credentials: 5,
  outOfReach: 6,
} as const;
/** Exit status of a command that Ctrl-C has interrupted, as a shell reports it for a process ended by SIGINT. */
export const INTERRUPTED = 130;

/** Meaning of each exit status, and the commands that return it, for the help and the reference. */
export const EXIT_STATUS_MEANINGS: { status: number; meaning: string; commands: string }[] = [
  { status: 0, meaning: 'The command succeeded.', commands: 'all' },
  {
    status: EXIT_STATUS.failed,
    meaning:
      'The command failed or the server rejected it. Standard error has the reason. `import` prints a line for each bad line, and `webhook test` and `doctor` print their results on standard output. A TLS failure, such as an untrusted certificate, and a response that is not from a plant store also have this status.',
    commands: 'all',
  },
  {
    status: EXIT_STATUS.wrongUsage,
    meaning: 'The arguments or settings are invalid. Nothing was opened or sent.',
    commands: 'all',
  },
  {
    status: EXIT_STATUS.notFound,
    meaning: 'The plant, token, webhook or delivery does not exist.',
    commands: 'commands on a store',
  },
  {
    status: EXIT_STATUS.conflict,
    meaning: 'The id belongs to another plant, or the plant is at another version.',
    commands: 'commands on a store',
  },
  {
    status: EXIT_STATUS.credentials,
    meaning: 'The token is missing, invalid, or lacks the scope.',
    commands: 'commands on a store',
  },
  {
    status: EXIT_STATUS.outOfReach,
    meaning:
      'The server is unreachable, stopping or overloaded, the database cannot store changes now, or the token still exceeds its rate after two retries. Each retry waits for `Retry-After`.',
    commands: 'commands on a store',
  },
  {
    status: INTERRUPTED,
    meaning:
      'Ctrl-C interrupted the command. After SIGTERM the status is 143, after SIGHUP 129, and after SIGQUIT 131.',
    commands: '`import`, `export`, `backup`, `restore`, `migrate`, `login`',
  },
];

export type ExitStatus = (typeof EXIT_STATUS)[keyof typeof EXIT_STATUS];

/** A UserError with its own exit status, used for a server's responses. */
export class CommandError extends UserError {
  readonly exitStatus: ExitStatus;

  constructor(message: string, exitStatus: ExitStatus = EXIT_STATUS.failed) {
    super(message);
    this.exitStatus = exitStatus;
  }
}

/** Exit statuses of errors of a store, on a server and on a database alike. */
const BY_CODE: Partial<Record<ErrorCode, ExitStatus>> = {
  not_found: EXIT_STATUS.notFound,
  id_taken: EXIT_STATUS.conflict,
  condition_failed: EXIT_STATUS.conflict,
  no_credentials: EXIT_STATUS.credentials,
  bad_token: EXIT_STATUS.credentials,
  scope_missing: EXIT_STATUS.credentials,
  over_rate: EXIT_STATUS.outOfReach,
  over_share: EXIT_STATUS.outOfReach,
  unavailable: EXIT_STATUS.outOfReach,
};

/** Returns the exit status of a command that fails with this error. */
export function exitStatusOf(error: Error): ExitStatus {
  if (error instanceof CommandError) return error.exitStatus;
  if (error instanceof PlantStoreError) return BY_CODE[error.code] ?? EXIT_STATUS.failed;
  return error instanceof UsageError ? EXIT_STATUS.wrongUsage : EXIT_STATUS.failed;
}
