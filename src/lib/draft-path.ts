// Names the drafts of files. A draft gets the name of its file when it is complete, so that the file always is.

import { randomBytes } from 'node:crypto';

/**
 * Returns a path beside the file that no other process uses: two commands can write one file at the same time, and no
 * file of the user is in the way. Create the draft with the flag `wx`.
 */
export function newDraftPath(file: string): string {
  return `${file}.${randomBytes(4).toString('hex')}.part`;
}
