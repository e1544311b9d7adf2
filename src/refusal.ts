// A command cannot do what it was asked to. The message is one line for the person at the
// terminal; anything else that is thrown is a bug and shows its stack.

export class Refusal extends Error {
  readonly exitStatus: 1 | 2;

  /** Exit status 2 is for what was asked (arguments, settings), 1 for what was found. */
  constructor(message: string, exitStatus: 1 | 2 = 1) {
    super(message);
    this.name = 'Refusal';
    this.exitStatus = exitStatus;
  }
}
