import { join } from 'node:path';

/** Returns the path of a guide or reference page, for messages. A checkout, the package and the image have the file. */
export function docsPage(page: `${'guides' | 'reference'}/${string}.md`): string {
  return join(import.meta.dirname, '../../docs', page);
}
