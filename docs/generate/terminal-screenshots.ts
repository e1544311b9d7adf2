// Takes the screenshots of the terminal in docs/screenshots: runs each command on a real terminal and draws what it shows.

import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { startNursery } from '../../console/sample-nursery.ts';
import { openBrowser } from '../../testing/browser.ts';
import { cleanUpFile } from '../../testing/clean-up.ts';
import { onTerminal, typeInto } from '../../testing/command-line.ts';
import { LAUNCHER, makeFolder } from '../../testing/server.ts';

const FOLDER = join(import.meta.dirname, '../screenshots');
const COLUMNS = 80;
const CTRL_C = '\u0003';

/** Styles of the escape sequences that the commands use, by their number. */
const STYLES: Record<string, string> = {
  1: 'font-weight:700;color:#f4f7f4',
  2: 'color:#8b988f',
  31: 'color:#f28b82',
  32: 'color:#7bd88f',
  33: 'color:#e8c268',
  36: 'color:#7cc7e8',
};
/** Escape sequences that end a style: all, bold and dim, and the colour. */
const ENDS = new Set(['0', '22', '39']);

const browser = await openBrowser();
await drawStart();
const { server, secret, failingWebhook } = await startNursery();
const PATH = [dirname(LAUNCHER), process.env.PATH].join(delimiter); // messages recommend plant-store, not its path
const env = { PATH, PLANT_STORE_URL: server.url, PLANT_STORE_TOKEN: secret };
await drawCommands('terminal-list', ['list', '--limit', '8'], ['get', '10703'], ['tags']);
await drawCommands('terminal-tokens', ['token', 'list']);
await drawCommands('terminal-webhooks', ['webhook', 'list'], ['webhook', 'deliveries', failingWebhook, '--limit', '5']);
await browser.close();
await server.stop();
await cleanUpFile(); // closes the receivers

/** Draws the first start of a server, with a line for each of a few requests. */
async function drawStart(): Promise<void> {
  const folder = makeFolder();
  const serve = `"${process.execPath}" "${LAUNCHER}" serve --port 0 --database sqlite:${folder}/plants.db`;
  const shown = await typeInto(`stty cols ${COLUMNS}; ${serve}`, {}, [['Press Ctrl-C', CTRL_C]]);
  const [banner = ''] = shown.replaceAll('\r', '').split('^C');
  const text = banner
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:3000')
    .replaceAll(folder, '/home/me/plant-store/data')
    .replaceAll(/pst_\w+/g, `pst_${'X'.repeat(36)}`);
  await draw('terminal-start', `$ npm start\n${text.trimEnd()}\n`);
}

/** Draws commands with their output, one below the other. */
async function drawCommands(name: string, ...commands: string[][]): Promise<void> {
  const texts: string[] = [];
  for (const args of commands) texts.push(`$ plant-store ${args.join(' ')}\n${await onTerminal(args, env, COLUMNS)}`);
  await draw(name, texts.join('\n').replaceAll(server.url, 'http://127.0.0.1:3000'));
}

async function draw(name: string, text: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 900, height: 600 }, deviceScaleFactor: 2 });
  await page.setContent(`<body style="margin:0"><pre style="display:inline-block;box-sizing:border-box;margin:0;
    width:${COLUMNS + 4}ch;padding:2ch;background:#151a17;color:#d7ded9;
    font:14px/1.45 'DejaVu Sans Mono',monospace">${toHtml(text)}</pre>`);
  writeFileSync(join(FOLDER, `${name}.png`), await page.locator('pre').screenshot());
  await page.close();
}

/** Returns the text as HTML, with a style for each escape sequence. */
function toHtml(text: string): string {
  const [start = '', ...parts] = text.replace(/[&<]/g, (found) => `&#${found.charCodeAt(0)};`).split('\x1b[');
  let styles: string[] = [];
  const spans = parts.map((part) => {
    const [, codes = '0', rest = ''] = /^([\d;]*)m(.*)$/s.exec(part) ?? [];
    for (const code of codes.split(';')) styles = ENDS.has(code) ? [] : [...styles, STYLES[code] ?? ''];
    return styles.length === 0 ? rest : `<span style="${styles.join(';')}">${rest}</span>`;
  });
  return start + spans.join('');
}
