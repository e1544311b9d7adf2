// Saves a chart as a PNG for the docs: ECharts renders SVG, and Chromium takes a screenshot. ECharts (67 MB) is
// installed from npm only when results are saved.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { install } from './install.ts';

export const RESULTS = join(import.meta.dirname, '../docs/results');
export const COLOURS = ['#2a7d4f', '#3b6fb5', '#c2691c'];
export const INK = '#1f2933';
export const FAINT = '#66727f';
export const GRID = '#e4e7eb';
const FONT = 'system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif';
const DOTS_PER_PIXEL = 2;

export interface Picture {
  width: number;
  height: number;
  /** Options for ECharts' setOption(). */
  options: object;
}

export async function savePicture(name: string, { width, height, options }: Picture, folder: string): Promise<void> {
  const { needsBrowser, openBrowser } = await import('../testing/browser.ts'); // loads the test runner
  if ('skip' in needsBrowser) return console.error(`${name}.png was not drawn: Chromium is missing`);
  const packages = await install('echarts', { echarts: '6.1.0' });
  const echarts = createRequire(join(packages, 'package.json'))('echarts');
  const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width, height });
  const textStyle = { fontFamily: FONT, color: INK };
  chart.setOption({ animation: false, backgroundColor: '#ffffff', textStyle, ...options });
  const browser = await openBrowser();
  const page = await browser.newPage({ deviceScaleFactor: DOTS_PER_PIXEL });
  await page.setContent(`<style>body { margin: 0 } svg { display: block }</style>${chart.renderToSVGString()}`);
  await page.locator('svg').screenshot({ path: join(folder, `${name}.png`) });
  await browser.close();
  chart.dispose();
}

/** Returns the title and subtitle of a picture. */
export function heading(text: string, facts: string): object {
  return { text, subtext: facts, left: 22, top: 16, textStyle: { fontSize: 20 }, subtextStyle: { color: FAINT } };
}

/** Formats a number for an axis: 10 k, 1 M, 0.25. */
export function short(value: number): string {
  const [divisor, unit] = value >= 1e6 ? [1e6, ' M'] : value >= 1000 ? [1000, ' k'] : [1, ''];
  return Number((value / divisor).toPrecision(3)) + unit;
}

/** Formats a measured number: 12,800 or 71 or 0.42. */
export function exact(value: number): string {
  return value < 10 ? value.toFixed(2) : Math.round(value).toLocaleString('en');
}
