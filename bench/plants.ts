// Plants for benchmarks: 1,600 names of two words, each with a number, so that words and prefixes repeat as in real
// data.

import { once } from 'node:events';
import { createWriteStream } from 'node:fs';

const GENERA =
  'Abies Acer Achillea Agave Allium Alnus Aloe Amelanchier Anemone Aquilegia Artemisia Asplenium Aster Betula Campanula Carex Carpinus Carya Cornus Crataegus Dianthus Dryopteris Euphorbia Ficus Galium Geranium Hosta Iris Juncus Lilium Monstera Nymphaea Pinus Populus Quercus Rosa Salix Solidago Trillium Viola'.split(
    ' ',
  );
const EPITHETS =
  'alba alpina americana aquatica arvensis australis autumnalis borealis canadensis cordata deliciosa elegans europaea flava gigantea glabra grandiflora japonica laevigata lanceolata latifolia longifolia lutea macrophylla maritima minor montana nigra occidentalis officinalis orientalis palustris pratensis purpurea repens rubra sinensis sylvatica virginiana vulgaris'.split(
    ' ',
  );
const TAGS = ['herb', 'grass', 'tree', 'shrub', 'fern', 'vine', undefined];

export interface BenchPlant {
  id: number;
  name: string;
  tag: string | undefined;
}

export function plantAt(n: number): BenchPlant {
  const genus = GENERA[n % GENERA.length];
  const epithet = EPITHETS[Math.floor(n / GENERA.length) % EPITHETS.length];
  return { id: n + 1, name: `${genus} ${epithet} ${Math.floor(n / 1600)}`, tag: TAGS[n % TAGS.length] };
}

/** Writes plants to a file. `printed` returns the line of a plant. */
export async function writePlants(
  path: string,
  count: number,
  printed: (plant: BenchPlant) => string,
  head = '',
): Promise<void> {
  const file = createWriteStream(path);
  let text = head;
  for (let n = 0; n < count; n++) {
    text += printed(plantAt(n));
    if (text.length < 1_000_000 && n < count - 1) continue;
    if (!file.write(text)) await once(file, 'drain');
    text = '';
  }
  file.end();
  await once(file, 'close');
}

export function toNdjson(plant: BenchPlant): string {
  return `${JSON.stringify(plant)}\n`;
}

export function toCsv({ id, name, tag = '' }: BenchPlant): string {
  return `${id},${name},${tag}\n`;
}
