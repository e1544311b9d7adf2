// POST /plants/import and GET /plants/export: stream files of any length into and out of the store.

import { z } from 'zod';
import { ERROR_NUMBERS } from '../../domain/errors.ts';
import type { Format } from '../../domain/names.ts';
import type { Store } from '../../domain/store.ts';
import { importPlants } from '../../files/import-plants.ts';
import { printPlants, readPlants, readUndeclaredPlants } from '../../files/plant-files.ts';
import { createFairShare, shareOf } from '../access/fair-share.ts';
import type { SharedLimits } from '../access/shared-limits.ts';
import { preferredType } from '../core/accept.ts';
import { ErrorBody } from '../core/error-response.ts';
import { etagOf } from '../core/etag.ts';
import { essenceOf } from '../core/json-body.ts';
import { dryRun } from '../core/parameters.ts';
import { type Route, route } from '../core/route.ts';
import { noteExport } from '../core/slow-clients.ts';
import { readStreamedBody } from '../core/streamed-body.ts';
import type { Timeouts } from '../core/timeouts.ts';

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
/** The only type as which all generated clients send a text unchanged. The server finds the format in the file. */
const PLAIN = 'text/plain';
const FORMAT_OF: Record<string, Format> = { [NDJSON]: 'ndjson', [CSV]: 'csv' };
export const MAX_ERRORS_NAMED = 1000;
/** Maximum number of concurrent imports. Each can use 2 MiB of memory. */
export const MAX_IMPORTS = 16;
/** Maximum number of concurrent exports. Each keeps a connection and a snapshot open. */
export const MAX_EXPORTS = 16;

const count = z.number().meta({ type: 'integer', examples: [0] });
const ImportReport = z
  .object({
    created: count.meta({ description: 'Number of plants that were created', examples: [957] }),
    replayed: count.meta({ description: 'Number of plants that already existed with the same content' }),
    failed: count.meta({ description: 'Number of lines that failed. Check that it is 0.', examples: [1] }),
    errors: z
      .array(
        z.object({
          line: count.meta({ description: 'Line number, starting at 1', examples: [4] }),
          ...ErrorBody.shape,
        }),
      )
      .meta({ description: `The first ${MAX_ERRORS_NAMED} errors, in the order of lines` }),
  })
  .meta({ id: 'ImportReport', description: 'The result of an import' });

export function importExportRoutes(
  store: Pick<Store, 'import' | 'export' | 'openDryRun'>,
  { counts }: SharedLimits,
  stopping: AbortSignal,
  timeouts: Timeouts,
): Route[] {
  const takeImport = createFairShare(counts, MAX_IMPORTS, 'imports');
  const takeExport = createFairShare(counts, MAX_EXPORTS, 'exports');

  return [
    route('POST /plants/import', 'importPlants', 'plants:write', {
      summary: 'Import plants from a file',
      description:
        'The response is 200 even if some or all lines fail: check that `failed` is 0. ' +
        'The server creates a plant for each line of a file and returns the number of created, replayed and failed lines. ' +
        'The file is NDJSON with one NewPlant per line, or CSV with the header row `id,name,tag`. ' +
        'As `text/plain`, a file that starts with `{` is NDJSON, and any other file is CSV. ' +
        'The file can have any length. A name or a tag can have up to 64 KiB. ' +
        'An invalid line is listed in `errors` and does not stop the import. You can safely send the whole file again. ' +
        'With `dryRun=true`, the server checks the whole file and returns the same report, but stores nothing. ' +
        'In CSV, an empty cell means no tag, and `""` means an empty tag. ' +
        `A token can have ${shareOf(MAX_IMPORTS)} imports in progress. After 30 s, the file must arrive at 1 KiB/s on average.`,
      parameters: { dryRun },
      body: { description: 'The file, as CSV or as NDJSON with one NewPlant per line', types: [PLAIN, CSV, NDJSON] },
      response: { description: 'The result of the import', schema: ImportReport },
      errors: ['not_json', 'not_valid', 'over_share'],
      isLong: true,
      async handle({ parameters: { dryRun }, request, token, ended }) {
        using cleanUp = new DisposableStack();
        cleanUp.defer(takeImport(token.id));
        const dry = dryRun ? cleanUp.adopt(store.openDryRun(), ({ close }) => close()) : undefined;
        const format = FORMAT_OF[essenceOf(request.headers)];
        const body = readStreamedBody(request.raw, AbortSignal.any([stopping, ended]), timeouts);
        const plants = format ? readPlants(format, body) : readUndeclaredPlants(body);
        const errors: z.output<typeof ImportReport>['errors'] = [];
        const counts = await importPlants(dry ?? store, plants, {
          by: { tokenId: token.id },
          onError({ line, error }) {
            if (errors.length >= MAX_ERRORS_NAMED) return;
            errors.push({ line, error: ERROR_NUMBERS[error.code], message: error.message });
          },
        });
        return { ...counts, errors };
      },
    }),
    route('GET /plants/export', 'exportPlants', 'plants:read', {
      takesTurn: true,
      summary: 'Export all plants',
      description:
        'Streams a consistent snapshot of all plants in ascending order of id, as NDJSON or CSV according to `Accept`. ' +
        'An import of the file into an empty store creates the same plants. ' +
        'To keep a copy up to date, read `/events` after the number in the `ETag`. ' +
        `A token can have ${shareOf(MAX_EXPORTS)} exports in progress. After 60 s, the client must have read 8 KiB/s on average.`,
      response: {
        description: 'All plants as a file',
        streams: [NDJSON, CSV],
        headers: { ETag: 'The quoted number of the last change in the snapshot' },
      },
      isLong: true,
      async handle({ request, reply, token }) {
        const type = preferredType(request.headers, [NDJSON, CSV]);
        using cleanUp = new DisposableStack();
        cleanUp.defer(takeExport(token.id));
        const { seq, plants } = cleanUp.adopt(await store.export(), ({ close }) => close());
        noteExport(request.raw);
        reply.header('etag', etagOf(seq)).type(`${type}; charset=utf-8`).vary('accept');
        return disposeAfter(printPlants(FORMAT_OF[type] as Format, plants), cleanUp.move());
      },
    }),
  ];
}

/** Yields the same texts, and disposes of their source after the last one or when the reader stops. */
async function* disposeAfter(texts: AsyncIterable<string>, source: Disposable): AsyncGenerator<string> {
  using _ = source;
  yield* texts;
}
