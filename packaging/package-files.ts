// Defines which files the package contains, and how large it may be.

import type { Packed } from './pack.ts';

/** Maximum unpacked size without pictures: 0.6 MB of code, the docs, and the console. */
const MAX_UNPACKED_BYTES = 3_500_000;
/** Maximum size of the pictures that the docs show. */
const MAX_PICTURE_BYTES = 4_000_000;

const ALLOWED = [
  /^(package\.json|(README|CHANGELOG|CONTRIBUTING|SECURITY|STYLE)\.md|LICENSE|bin\/plant-store\.js|packaging\/plant-store\.service)$/,
  /^docs\/([a-z]+\/)?[\w-]+\.md$/,
  /^docs\/background\/[a-z]+\.svg$/,
  /^docs\/(screenshots|results)\/[a-z-]+\.(png|json)$/,
  /^dist\/([a-z-]+\/)*[a-z0-9-]+\.(js|d\.ts)$/,
  /^dist\/storage\/(sqlite|postgres)\/migrations\/\d{4}_\w+\.sql$/,
  /^dist\/console\/.+\.gz$/,
];

/** Files that the docs mention, or that the program finds by their path. */
const REQUIRED = [
  'docs/grafana.json',
  'docs/alerts.yml',
  'examples/species.csv',
  'packaging/plant-store.service',
  'dist/client/client.d.ts',
  'dist/console/index.html.gz',
  'dist/storage/sqlite/writer-thread.js',
];

/** Returns a line for each file that is missing or should not be there, and for a package that is too large. */
export function findWrongFiles({ files, unpackedSize }: Pick<Packed, 'files' | 'unpackedSize'>): string[] {
  const paths = files.map(({ path }) => path);
  const unexpected = paths.filter(
    (path) => !REQUIRED.includes(path) && (isTest(path) || !ALLOWED.some((pattern) => pattern.test(path))),
  );
  const pictureBytes = files.filter(({ path }) => path.endsWith('.png')).reduce((sum, { size }) => sum + size, 0);
  const missing = REQUIRED.filter((path) => !paths.includes(path));
  return [
    ...unexpected.map((path) => `${path} does not belong in the package`),
    ...missing.map((path) => `${path} is missing`),
    ...tooLarge('unpacked', unpackedSize - pictureBytes, MAX_UNPACKED_BYTES),
    ...tooLarge('of pictures', pictureBytes, MAX_PICTURE_BYTES),
  ];
}

function tooLarge(kind: string, bytes: number, max: number): string[] {
  return bytes > max ? [`${bytes} bytes ${kind}, more than ${max}`] : [];
}

function isTest(path: string): boolean {
  return !path.startsWith('docs/') && path.includes('test');
}
