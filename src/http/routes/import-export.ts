// The whole store in and out, as a stream of any length: POST /plants/import and GET /plants/export.

import { addAbortSignal, Readable } from 'node:stream';
import { z } from 'zod';
import { ERROR_NUMBERS, PlantStoreError } from '../../domain/errors.ts';
import type { Format } from '../../domain/names.ts';
import type { PlantStore } from '../../domain/plant.ts';
import { importPlants } from '../../files/import-plants.ts';
import { printPlants, readPlants } from '../../files/plant-files.ts';
import { createFairShare } from '../access/fair-share.ts';
import { preferredType } from '../core/accept.ts';
import { ErrorBody } from '../core/error-response.ts';
import { etagOf } from '../core/etag.ts';
import { essenceOf } from '../core/json-body.ts';
import { type Route, route } from '../core/route.ts';
import { noteExport } from '../core/slow-clients.ts';
import { readStreamedBody } from '../core/streamed-body.ts';
import type { Timeouts } from '../core/timeouts.ts';

const NDJSON = 'application/x-ndjson';
const CSV = 'text/csv';
const FORMAT_OF: Record<string, Format> = { [NDJSON]: 'ndjson', [CSV]: 'csv' };
export const MAX_ERRORS_NAMED = 1000;
/** Each may have 2 MiB in memory. */
export const MAX_IMPORTS = 16;
/** As many as a store has. */
export const MAX_EXPORTS = 16;

const count = z.number().meta({ type: 'integer' });
const ImportReport = z
  .object({
    created: count,
    replayed: count.meta({ description: 'Stored before, the same' }),
    failed: count,
    errors: z
      .array(z.object({ line: count.meta({ description: 'Counted from 1' }), ...ErrorBody.shape }))
      .meta({ description: `The first ${MAX_ERRORS_NAMED} of them` }),
  })
  .meta({ id: 'ImportReport' });

export function importExportRoutes(store: PlantStore, stopping: AbortSignal, timeouts: Timeouts): Route[] {
  let imports = 0;
  const takeImport = createFairShare(MAX_IMPORTS, 'imports');
  const takeExport = createFairShare(MAX_EXPORTS, 'exports');

  return [
    route('POST /plants/import', 'importPlants', 'plants:write', {
      summary: 'Create many plants from a file',
      description:
        'NDJSON, a NewPlant a line, or CSV with the header row `id,name,tag`, of any length; a name or a tag may have 64 KiB. ' +
        'A bad line is named and never stops the others. To send the whole file again is safe. ' +
        'In CSV an empty cell is no tag, and `""` is an empty one. ' +
        `A token may have ${MAX_IMPORTS / 4} imports in progress. After 30 s the file must arrive at 1 KiB/s on average.`,
      body: { types: [NDJSON, CSV] },
      response: { description: 'What became of the lines', schema: ImportReport },
      errors: ['not_json', 'not_valid', 'over_share'],
      isLong: true,
      async handle({ request, token, ended }) {
        const endShare = takeImport(token.id);
        if (imports >= MAX_IMPORTS) {
          endShare();
          throw new PlantStoreError('unavailable', 'Too many imports are under way: try again later');
        }
        const errors: z.output<typeof ImportReport>['errors'] = [];
        imports++;
        const format = FORMAT_OF[essenceOf(request.headers)] as Format;
        const body = readStreamedBody(request.raw, AbortSignal.any([stopping, ended]), timeouts);
        const counts = await importPlants(store, readPlants(format, body), {
          by: { tokenId: token.id },
          onError({ line, error }) {
            if (errors.length >= MAX_ERRORS_NAMED) return;
            errors.push({ line, error: ERROR_NUMBERS[error.code], message: error.message });
          },
        }).finally(() => {
          imports--;
          endShare();
        });
        return { ...counts, errors };
      },
    }),
    route('GET /plants/export', 'exportPlants', 'plants:read', {
      summary: 'Read the whole store at one moment',
      description:
        'Streamed by ascending id, as NDJSON or CSV by `Accept`; import of it into an empty store gives the same plants. ' +
        'With `/events` after the number in its `ETag` a copy stays up to date. ' +
        `A token may have ${MAX_EXPORTS / 4} exports in progress. After 60 s the response must be read at 8 KiB/s on average.`,
      response: {
        description: 'All plants',
        streams: [NDJSON, CSV],
        headers: { ETag: 'Number of the last change that it holds, quoted' },
      },
      errors: ['over_share'],
      isLong: true,
      async handle({ request, reply, token, ended }) {
        const type = preferredType(request.headers, [NDJSON, CSV]);
        const endShare = takeExport(token.id);
        const { seq, plants, close } = await store.export().catch((error) => {
          endShare();
          throw error;
        });
        noteExport(request.raw);
        reply.header('etag', etagOf(seq)).type(`${type}; charset=utf-8`).vary('accept');
        const lines = Readable.from(printPlants(FORMAT_OF[type] as Format, plants)).once('close', () => {
          endShare();
          close();
        });
        return addAbortSignal(ended, lines);
      },
    }),
  ];
}
