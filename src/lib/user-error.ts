/**
 * A failure that the person who runs the program can act on. The message is one line for them; any other error that is
 * thrown is a bug and is reported with its stack.
 */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** A UserError about how the program was called: an argument or a setting has a wrong value. */
export class UsageError extends UserError {}
