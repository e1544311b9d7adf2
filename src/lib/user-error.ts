// Errors that the user of the program can act on.

/** A failure that the user can act on, with a message of one line. Any other error is a bug. */
export class UserError extends Error {
  override readonly name = 'UserError';
}

/** A UserError about how the program was called: an argument or a setting has a wrong value. */
export class UsageError extends UserError {}
