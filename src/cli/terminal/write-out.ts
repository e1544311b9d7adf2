// Results to standard output, as fast as it is read.

import { pipeline } from 'node:stream/promises';
import type { Output } from '../command-io.ts';

/** A reader that goes away, such as `head`, is no error: the rest of the texts is not made. */
export async function writeOut(output: Output, texts: Iterable<string> | AsyncIterable<string>): Promise<void> {
  await pipeline(texts, output, { end: false }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
