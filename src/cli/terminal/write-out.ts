// Results to standard output, as fast as it is read.

import { pipeline } from 'node:stream/promises';

/** A reader that goes away, such as `head`, is no error: what is left is not made. */
export async function writeOut(texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  await pipeline(texts, process.stdout, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
