// A command cannot do what it was asked to. The message is one line for the person at the
// terminal; anything else that is thrown is a bug and shows its stack.

/** 2 is for what was asked (arguments, settings), 1 for what was found; what a server says has more of them. */
export const EXIT_STATUS = {
  failed: 1,
  wrongUsage: 2,
  notFound: 3,
  conflict: 4,
  credentials: 5,
  outOfReach: 6,
} as const;
export type ExitStatus = (typeof EXIT_STATUS)[keyof typeof EXIT_STATUS];

export class Refusal extends Error {
  readonly exitStatus: ExitStatus;

  constructor(message: string, exitStatus: ExitStatus = EXIT_STATUS.failed) {
    super(message);
    this.name = 'Refusal';
    this.exitStatus = exitStatus;
  }
}
