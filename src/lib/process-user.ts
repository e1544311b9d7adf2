// Names the user of this process in messages about rights.

import { userInfo } from 'node:os';

/** Returns the user as in `the user ann (id 1000)`. */
export function describeProcessUser(): string {
  try {
    const { username, uid } = userInfo();
    return uid < 0 ? `the user ${username}` : `the user ${username} (id ${uid})`; // Windows has no ids
  } catch {
    return `the user with id ${process.getuid?.()}`; // a container can run as a user id without a name
  }
}
