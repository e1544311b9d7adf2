// Draws the results that `growth`, `compare` and the soak have saved again.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { soakPicture } from '../torture/soak/plot.ts';
import { PERFORMANCE, type Picture, RELIABILITY, savePicture } from './picture.ts';
import { comparePicture } from './plot-compare.ts';
import { growthPicture } from './plot-growth.ts';

await draw(PERFORMANCE, 'growth', growthPicture);
await draw(PERFORMANCE, 'compare', comparePicture);
await draw(RELIABILITY, 'soak', soakPicture);

async function draw<Data>(folder: string, name: string, toPicture: (data: Data) => Picture): Promise<void> {
  const file = join(folder, `${name}.json`);
  if (existsSync(file)) await savePicture(name, toPicture(JSON.parse(readFileSync(file, 'utf8'))), folder);
  else console.error(`There is no ${file}: a run of ${name} with --save makes it`);
}
