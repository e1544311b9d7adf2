// Measures the console in a real browser with a million plants: the time to the first row after dragging the scrollbar,
// a jump, a search and a sort, and what 200 changes a second by another client cost the tab. It needs Chromium.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { createClient } from '../src/client/client.ts';
import { openBrowser } from '../testing/browser.ts';
import { importOverHttp, waitForNameOrder } from './growth-transfer.ts';
import { median } from './measure.ts';
import { toNdjson, writePlants } from './plants.ts';
import { makeBenchFolder, startTokenedServer, type TokenedServer } from './server.ts';

const PLANTS = Number(process.env.BENCH_PLANTS ?? 1_000_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CHANGES_PER_SECOND = 200;
const LOAD_SECONDS = 30;
/** Time in which the page comes to rest before the next measurement. */
const REST_MS = 600;
const SORTS = ['-updated', 'id', 'name'];

/** Runs in the page: does the action, and returns the milliseconds until another row is at a third of the screen. */
const TIME_TO_ROW = `async (action) => {
  const scroller = document.querySelector('.scroller');
  const idAt = () => {
    const box = scroller.getBoundingClientRect();
    return document.elementFromPoint(box.left + 300, box.top + box.height / 3)?.closest('.tr')?.dataset.id;
  };
  const before = idAt();
  const start = performance.now();
  new Function('scroller', action)(scroller);
  for (;;) {
    await new Promise((drawn) => requestAnimationFrame(drawn));
    const now = idAt();
    if ((now !== undefined && now !== before) || performance.now() - start > 10_000) return performance.now() - start;
  }
}`;

const folder = makeBenchFolder();
const server = await startFull();
const browser = await openBrowser();
const page = await openConsole();
console.log(`First paint of the list: ${await firstPaintMs(page)} ms`);
console.log(
  `\nMilliseconds to the first row, ${PLANTS.toLocaleString('en')} plants, ${ROUNDS} rounds (median, longest)`,
);
for (const sort of SORTS) await measureMoves(sort);
await measureSearches();
await measureLoad();
await browser.close();
await server.stop();
process.exit();

async function startFull(): Promise<TokenedServer> {
  const started = await startTokenedServer(`sqlite:${join(folder, 'plants.db')}`);
  console.error(`Importing ${PLANTS.toLocaleString('en')} plants`);
  const file = { path: join(folder, 'plants.ndjson'), records: PLANTS };
  await writePlants(file.path, PLANTS, toNdjson);
  await importOverHttp(started, file);
  await waitForNameOrder(started);
  return started;
}

async function openConsole(): Promise<Page> {
  const opened = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await opened.addInitScript(`sessionStorage.setItem('plant-store-token', '${server.secret}')`);
  await opened.goto(`${server.url}/`);
  await opened.locator('.tr[data-id]').first().waitFor();
  return opened;
}

function firstPaintMs(opened: Page): Promise<number> {
  return opened.evaluate("Math.round(performance.getEntriesByName('first-contentful-paint')[0].startTime)");
}

async function measureMoves(sort: string): Promise<void> {
  const drag = (share: number) => `scroller.scrollTop = scroller.scrollHeight * ${share}`;
  const click = (label: string) => `document.querySelector('[aria-label="${label}"]').click()`;
  await page.goto(`${server.url}/#/plants?sort=${sort}`);
  await sleep(REST_MS);
  const times = new Map<string, number[]>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const [what, action] of [
      ['drag to the middle', drag(0.5 + round / 100)],
      ['drag to a third', drag(0.3 + round / 100)],
      ['jump to the end', click('To the end')],
      ['jump to the top', click('To the top')],
    ] as const) {
      times.set(what, [...(times.get(what) ?? []), await timeToFirstRow(action)]);
    }
  }
  for (const [what, ms] of times) print(`sort=${sort}: ${what}`, ms);
}

async function measureSearches(): Promise<void> {
  const searches: number[] = [];
  const sorts: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await page.goto(`${server.url}/#/plants`);
    await sleep(REST_MS);
    searches.push(await timeToFirstRow(`location.hash = '#/plants?q=betula alba ${10 + round}'`));
    await page.goto(`${server.url}/#/plants`);
    await sleep(REST_MS);
    sorts.push(await timeToFirstRow(`document.querySelector('.th.c-name button').click()`));
  }
  print('search for three words', searches);
  print('sort by name', sorts);
}

async function timeToFirstRow(action: string): Promise<number> {
  const ms = await page.evaluate<number>(`(${TIME_TO_ROW})(${JSON.stringify(action)})`);
  await sleep(REST_MS);
  return ms;
}

/** Changes plants at a fixed rate, and measures the processor time and the memory of the tab. */
async function measureLoad(): Promise<void> {
  await page.goto(`${server.url}/#/plants`);
  await sleep(REST_MS);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const read = async (name: string) => {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  };
  const client = createClient({ url: server.url, token: server.secret });
  const [startMs, busyBefore] = [performance.now(), await read('TaskDuration')];
  let sent = 0;
  while (performance.now() - startMs < LOAD_SECONDS * 1000) {
    const due = Math.floor(((performance.now() - startMs) / 1000) * CHANGES_PER_SECOND);
    const changes: Promise<unknown>[] = [];
    for (; sent < due; sent++) changes.push(client.patch(BigInt(1 + (sent % PLANTS)), { tag: `round ${sent}` }));
    await Promise.all(changes);
    await sleep(20);
  }
  const seconds = (performance.now() - startMs) / 1000;
  const busy = (await read('TaskDuration')) - busyBefore;
  await session.send('HeapProfiler.collectGarbage');
  const heapMib = (await read('JSHeapUsedSize')) / 2 ** 20;
  console.log(
    `\n${Math.round(sent / seconds)} changes a second for ${Math.round(seconds)} s: the tab used ${(busy / seconds).toFixed(2)} cores and ${heapMib.toFixed(1)} MiB of JS heap`,
  );
}

function print(what: string, ms: number[]): void {
  console.log(
    `${what.padEnd(36)} ${String(Math.round(median(ms))).padStart(5)} ${String(Math.round(Math.max(...ms))).padStart(5)}`,
  );
}
