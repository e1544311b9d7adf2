// Names of tokens and webhooks within a sentence.

import { nameOf } from './plant-text.tsx';

/** Returns the name, shortened if it is long and isolated if it is right-to-left. These names are never blank. */
export function inSentence(name: string): string {
  return nameOf({ id: 0n, name });
}
