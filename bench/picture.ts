// A plot into a folder of the docs: as SVG, and by way of Chromium as PNG, for whoever shows no SVG.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { needsBrowser, openBrowser } from '../testing/browser.ts';

export const PERFORMANCE = join(import.meta.dirname, '../docs/performance');
const DOTS_PER_PIXEL = 2;

export async function savePicture(name: string, svg: string, folder = PERFORMANCE): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.svg`), svg);
  if ('skip' in needsBrowser) {
    console.error(`THERE IS NO CHROMIUM: ${name}.png was not drawn, only ${name}.svg`);
    return;
  }
  const browser = await openBrowser();
  const page = await browser.newPage({ deviceScaleFactor: DOTS_PER_PIXEL });
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${svg}`);
  await page.locator('svg').screenshot({ path: join(folder, `${name}.png`), omitBackground: true });
  await browser.close();
}
