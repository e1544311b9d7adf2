// A store with the plants and the last days of a small nursery, made through the API by several tokens. The server
// starts once per visit, with its clock set back to the time of the visit.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, type PlantStoreClient } from '../src/client/client.ts';
import { SCOPES } from '../src/domain/names.ts';
import { issueToken } from '../src/domain/token.ts';
import { type Receiver, startReceiver } from '../testing/receiver.ts';
import { besideServer, makeFolder, startServer, type TestServer } from '../testing/server.ts';
import { until } from '../testing/until.ts';

const SPECIES = join(import.meta.dirname, '../examples/species.csv');
const HOUR_MS = 3_600_000;
const DAY_HOURS = 24;
const FIRST_NEW_ID = 20_417n;

/** Name and tag of the plants that arrive, in this order. */
const ARRIVALS = `Hydrangea arborescens 'Annabelle',shrub
Acer saccharum 'Green Mountain',tree
Salvia officinalis 'Purpurascens',herb
Quercus alba × macrocarpa,tree
Clematis viticella 'Polish Spirit',vine
Dryopteris erythrosora,fern
Panicum virgatum 'Shenandoah',grass
Echinacea purpurea 'Magnus',herb
Amelanchier × grandiflora 'Autumn Brilliance',shrub
Thuja occidentalis 'Smaragd',conifer
Rosa glauca,shrub
Betula nigra 'Heritage',tree
Rudbeckia fulgida 'Goldsturm',herb
Cornus sericea 'Flaviramea',shrub
Adiantum pedatum 'Imbricatum',fern
Schizachyrium scoparium 'Standing Ovation',grass
Lonicera sempervirens 'Major Wheeler',vine
Gleditsia triacanthos 'Sunburst',tree
Monarda didyma 'Jacob Cline',herb
Pinus strobus 'Blue Shag',conifer
Viburnum dentatum 'Blue Muffin',shrub
Tilia americana 'Redmond',tree
Baptisia australis,herb
Andropogon gerardii 'Red October',grass`
  .split('\n')
  .map((line) => line.split(',') as [string, string]);

/** Hours before now, and the number of plants that arrive, get another tag and are deleted. */
const VISITS = [
  [5.2 * DAY_HOURS, 2, 6, 0],
  [3.1 * DAY_HOURS, 3, 4, 1],
  [42, 2, 19, 0],
  [37, 0, 14, 1],
  [29, 1, 17, 0],
  [21, 1, 3, 0],
  [20, 0, 7, 1],
  [16, 2, 4, 0],
  [11, 0, 2, 0],
  [8, 3, 8, 1],
  [6, 2, 11, 2],
  [5, 1, 5, 0],
  [3, 4, 9, 1],
  [1.2, 1, 4, 0],
  [0.3, 0, 1, 0],
] as const;

type Visitors = Record<'designer' | 'shop' | 'terminal', PlantStoreClient>;

export interface Nursery {
  server: TestServer;
  /** Secret of the token of the person in front of the screen. */
  secret: string;
  visitors: Visitors;
  /** Id of the webhook whose receiver is down. */
  failingWebhook: string;
}

/** Starts the server of the nursery as it is now. */
export async function startNursery(): Promise<Nursery> {
  const folder = makeFolder();
  const databaseUrl = `sqlite:${join(folder, 'plants.db')}`;
  const own = { name: 'designer', scopes: [...SCOPES], expiresMs: null };
  const { secret, token } = await besideServer(databaseUrl, (store) =>
    issueToken(store, own, Date.now() - 9 * DAY_HOURS * HOUR_MS),
  );
  const start = (hoursAgo: number): Promise<TestServer> =>
    startServer({
      folder,
      token: { secret, id: token.id },
      env: { WEBHOOK_ALLOW_PRIVATE: '1', NODE_OPTIONS: `--import=${clockScript(-hoursAgo * HOUR_MS)}` },
    });

  const opening = await start(9 * DAY_HOURS - 1);
  const secrets = await open(createClient({ url: opening.url, token: secret }), secret);
  await opening.stop();
  const receiver = await startReceiver();
  const broken = await startReceiver((_request, response) => response.writeHead(503).end('Service Unavailable'));
  let failingWebhook = '';
  for (const [index, [hoursAgo, arrived, tagged, deleted]] of VISITS.entries()) {
    const server = await start(hoursAgo);
    const visitors = visitorsOf(server.url, secrets);
    if (index === 0) await addWebhooks(visitors.designer, receiver);
    if (index === VISITS.length - 3) failingWebhook = await addFailingWebhook(visitors.designer, broken);
    await visit(visitors, { arrived, tagged, deleted });
    if (index === VISITS.length - 1) await changeLately(visitors);
    await delivered(visitors.designer);
    await server.stop();
  }
  const server = await start(0);
  const visitors = visitorsOf(server.url, secrets);
  await changeNow(visitors);
  return { server, secret, visitors, failingWebhook };
}

/** Returns the URL of a script that shifts the clock of a process. */
function clockScript(byMs: number): string {
  const script = `
    const Now = Date;
    globalThis.Date = class extends Now {
      constructor(...time) { super(...(time.length > 0 ? time : [Now.now() + ${byMs}])); }
      static now() { return Now.now() + ${byMs}; }
    };`;
  return `data:text/javascript,${encodeURIComponent(script)}`;
}

type Secrets = Record<keyof Visitors, string>;

async function open(designer: PlantStoreClient, secret: string): Promise<Secrets> {
  const readWrite = ['plants:read', 'plants:write'] as const;
  const shop = await designer.tokens.create({ name: 'shop-sync', scopes: [...readWrite], rate: '100/s' });
  const terminal = await designer.tokens.create({ name: 'terminal', scopes: [...readWrite], expires: '90d' });
  await designer.tokens.create({ name: 'greenhouse kiosk', scopes: ['plants:read'], expires: '13d' });
  await designer.tokens.create({ name: 'grafana', scopes: ['admin'] });
  const { id } = await designer.tokens.create({ name: 'old laptop', scopes: [...readWrite] });
  await designer.tokens.revoke(id);
  await designer.importFile(new Blob([readFileSync(SPECIES)]), { type: 'text/csv' });
  return { designer: secret, shop: shop.secret, terminal: terminal.secret };
}

function visitorsOf(url: string, secrets: Secrets): Visitors {
  const clientOf = (token: string): PlantStoreClient => createClient({ url, token });
  return {
    designer: clientOf(secrets.designer),
    shop: clientOf(secrets.shop),
    terminal: clientOf(secrets.terminal),
  };
}

async function addWebhooks({ webhooks }: PlantStoreClient, { url }: Receiver): Promise<void> {
  await webhooks.create({ url, name: 'Stock list', events: ['plant.created', 'plant.deleted'] });
  const { id } = await webhooks.create({ url: `${url}/labels`, name: 'Label printer', events: ['plant.created'] });
  await webhooks.update(id, { enabled: false });
}

async function addFailingWebhook({ webhooks }: PlantStoreClient, { url }: Receiver): Promise<string> {
  const events = ['plant.created', 'plant.updated', 'plant.deleted'] as const;
  return (await webhooks.create({ url, name: 'Search index', events: [...events], format: 'event' })).id;
}

const TAGS = ['bee friendly', 'native', 'shade', 'ground cover'];

let nextArrival = 0;
let nextChange = 0;
let nextDeletion = 10_900n;

async function visit(
  { designer, shop, terminal }: Visitors,
  counts: { arrived: number; tagged: number; deleted: number },
): Promise<void> {
  for (let n = 0; n < counts.arrived; n++) {
    const [name, tag] = ARRIVALS[nextArrival] ?? ['', ''];
    await shop.create({ id: FIRST_NEW_ID + BigInt(nextArrival++), name, tag });
  }
  for (let n = 0; n < counts.tagged; n++) {
    const id = 10_012n + ((BigInt(nextChange) * 41n) % 850n);
    await [shop, terminal, shop, designer][nextChange % 4]?.patch(id, { tag: TAGS[nextChange % TAGS.length] ?? '' });
    nextChange++;
  }
  for (let n = 0; n < counts.deleted; n++) await designer.delete(nextDeletion++);
}

/** Waits until the webhook with the receiver that accepts messages has sent all of them. */
async function delivered({ webhooks, lastSeq }: PlantStoreClient): Promise<void> {
  const last = await lastSeq();
  await until(async () =>
    (await webhooks.list()).every(({ status, position }) => status !== 'active' || position >= last),
  );
}

/** Changes that the pictures show closely. */
async function changeLately({ designer, shop, terminal }: Visitors): Promise<void> {
  await terminal.patch(10_008n, { tag: 'maple' });
  await shop.patch(10_742n, { tag: 'berry' });
  await shop.patch(10_008n, { tag: 'tree' });
  await designer.delete(10_009n);
  await terminal.create({ id: 20_480n, name: 'شجرة الزيتون (Olea europaea)', tag: 'tree' });
}

async function changeNow({ designer, shop }: Visitors): Promise<void> {
  await shop.create({ id: 9_223_372_036_854_775_807n, name: 'Rosa canina', tag: 'shrub' });
  await designer.patch(10_008n, { name: 'Acer saccharum Marshall' });
  await designer.patch(10_703n, { name: 'Quercus alba L.' });
}
