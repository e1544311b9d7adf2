// Redraws the charts of the results that `growth`, `compare` and the soak test have saved.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { soakPicture } from '../torture/soak/plot.ts';
import { type Picture, RESULTS, savePicture } from './picture.ts';
import { comparePicture } from './plot-compare.ts';
import { growthPicture } from './plot-growth.ts';

await draw('growth', growthPicture);
await draw('compare', comparePicture);
await draw('soak', soakPicture);

async function draw<Data>(name: string, toPicture: (data: Data) => Picture): Promise<void> {
  const file = join(RESULTS, `${name}.json`);
  if (existsSync(file)) await savePicture(name, toPicture(JSON.parse(readFileSync(file, 'utf8'))), RESULTS);
  else console.error(`${file} does not exist. Run ${name} with --save to create it.`);
}
