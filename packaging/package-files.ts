// Defines which files the package contains, and how large it may be.

import type { Packed } from './pack.ts';

/** Maximum unpacked size: 0.6 MB of code, the docs, and the console. */
const MAX_UNPACKED_BYTES = 3_500_000;

const ALLOWED = [
  /^(package\.json|README\.md|CHANGELOG\.md|SECURITY\.md|LICENSE|bin\/plant-store\.js|packaging\/plant-store\.service)$/,
  /^docs\/([a-z]+\/)?[\w-]+\.md$/,
  /^docs\/background\/[a-z]+\.svg$/,
  /^dist\/([a-z-]+\/)*[a-z-]+\.(js|d\.ts)$/,
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
  const missing = REQUIRED.filter((path) => !paths.includes(path));
  return [
    ...unexpected.map((path) => `${path} does not belong in the package`),
    ...missing.map((path) => `${path} is missing`),
    ...(unpackedSize > MAX_UNPACKED_BYTES ? [`${unpackedSize} bytes unpacked, more than ${MAX_UNPACKED_BYTES}`] : []),
  ];
}

function isTest(path: string): boolean {
  return !path.startsWith('docs/') && path.includes('test');
}
