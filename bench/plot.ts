// Draws what `growth --save` and `compare --save` have left in docs/performance/ once more.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERFORMANCE, savePicture } from './picture.ts';
import { compareSvg } from './plot-compare.ts';
import { growthSvg } from './plot-growth.ts';

await draw('growth', growthSvg);
await draw('compare', compareSvg);

async function draw<Data>(name: string, toSvg: (data: Data) => string): Promise<void> {
  const file = join(PERFORMANCE, `${name}.json`);
  if (existsSync(file)) await savePicture(name, toSvg(JSON.parse(readFileSync(file, 'utf8'))));
  else console.error(`There is no ${name}.json: npm run bench -- ${name} --save makes it`);
}
