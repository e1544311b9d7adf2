// Writes the generated pages of docs/reference: npm run docs.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderAll } from './pages.ts';

for (const [file, text] of Object.entries(await renderAll())) {
  writeFileSync(join(import.meta.dirname, '../reference', file), text);
}
