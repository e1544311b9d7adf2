// Everything under /plants, except files of plants, which import-export.ts reads and writes.

import { z } from 'zod';
import { PlantStoreError, unavailable } from '../../domain/errors.ts';
import { NewPlant, Plant, PlantPatch, PlantRecord, type PlantStore } from '../../domain/plant.ts';
import { Summary } from '../../domain/plant-summary.ts';
import { preconditionHolds } from '../../domain/precondition.ts';
import { createCachedResult } from '../../lib/cached-result.ts';
import { etagOf } from '../core/etag.ts';
import { jsonBody } from '../core/json-body.ts';
import { cursor, id, ifMatch, ifNoneMatch, limit, q, tag } from '../core/parameters.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';

const ETAG = { ETag: 'Number of the change that made this version, quoted' };
const IF_UNCHANGED = { id, ifMatch, ifNoneMatch };
const SUMMARY_KEPT_MS = 5000;

export function plantRoutes(store: PlantStore, basePath: string, stopping: AbortSignal): Route[] {
  const cachedSummary = createCachedResult(SUMMARY_KEPT_MS, () => store.summary());

  return [
    route('POST /plants', 'createPlant', 'plants:write', {
      summary: 'Create a plant',
      description:
        'Stored for good when the 200 is sent. The same plant sent again is answered again and stored once; ' +
        'a different plant under a taken id is refused.',
      body: jsonBody(NewPlant),
      isConcurrent: true,
      response: {
        description: 'The plant is stored',
        schema: Plant,
        headers: {
          ...ETAG,
          Location: 'Path of the record',
          'Idempotent-Replayed': '`true` when the same plant was stored before',
        },
      },
      errors: ['id_taken'],
      async handle({ body, token, reply }) {
        const { seq, replayed } = await store.create(body, { tokenId: token.id });
        const { id, name, tag } = body;
        reply.header('etag', etagOf(seq)).header('location', `${basePath}/plants/${id}`);
        if (replayed) reply.header('idempotent-replayed', 'true');
        return { name, tag };
      },
    }),
    route('GET /plants', 'listPlants', 'plants:read', {
      summary: 'List plants by ascending id',
      description:
        'A walk along the `Link` headers shows every record that exists throughout it exactly once, whatever is written meanwhile.',
      parameters: { limit, cursor, tag, q },
      response: {
        description: 'A page of records',
        schema: z.array(PlantRecord),
        headers: { Link: 'The next page, `rel="next"` (RFC 8288); not there on the last one' },
      },
      async handle({ parameters, reply }) {
        const { records, next } = await store.list(parameters);
        const { limit, tag, q } = parameters;
        if (next !== undefined) reply.nextPage(`${basePath}/plants`, { limit, tag, q, cursor: next });
        return records;
      },
    }),
    route('GET /plants/:id', 'getPlant', 'plants:read', {
      summary: 'Read a plant',
      parameters: IF_UNCHANGED,
      response: { description: 'The record', schema: PlantRecord, headers: ETAG, notModified: true },
      errors: ['not_found', 'condition_failed'],
      async handle({ parameters: { id, ifMatch, ifNoneMatch }, reply }) {
        const { record, seq } = await store.get(id);
        if (!preconditionHolds({ ifMatch }, seq)) {
          throw new PlantStoreError('condition_failed', `Plant ${id} is at version ${seq}`, { detail: { seq } });
        }
        reply.header('etag', etagOf(seq));
        if (preconditionHolds({ ifNoneMatch }, seq)) return record;
        reply.code(304);
        return undefined;
      },
    }),
    route('PUT /plants/:id', 'putPlant', 'plants:write', {
      summary: 'Replace a plant, or create it',
      description:
        'What is the same already stays as it is: same ETag, no change in the log. `If-None-Match: *` only creates, `If-Match` only replaces.',
      parameters: IF_UNCHANGED,
      body: jsonBody(Plant),
      isConcurrent: true,
      response: { description: 'The record as it is now', schema: PlantRecord, headers: ETAG },
      errors: ['condition_failed'],
      async handle({ parameters: { id, ...condition }, body, token, reply }) {
        const { record, seq } = await store.put(id, body, { tokenId: token.id, ...condition });
        reply.header('etag', etagOf(seq));
        return record;
      },
    }),
    route('PATCH /plants/:id', 'patchPlant', 'plants:write', {
      summary: 'Change the name or the tag of a plant',
      description: 'A JSON merge patch (RFC 7396): what is not in it stays, `"tag": null` removes the tag.',
      parameters: IF_UNCHANGED,
      body: jsonBody(PlantPatch, 'application/merge-patch+json'),
      isConcurrent: true,
      response: { description: 'The record as it is now', schema: PlantRecord, headers: ETAG },
      errors: ['not_found', 'condition_failed'],
      async handle({ parameters: { id, ...condition }, body, token, reply }) {
        const { record, seq } = await store.patch(id, body, { tokenId: token.id, ...condition });
        reply.header('etag', etagOf(seq));
        return record;
      },
    }),
    route('DELETE /plants/:id', 'deletePlant', 'plants:write', {
      summary: 'Delete a plant',
      description: 'The id is free again.',
      parameters: IF_UNCHANGED,
      response: { status: 204, description: 'It is deleted' },
      errors: ['not_found', 'condition_failed'],
      async handle({ parameters: { id, ...condition }, token }) {
        await store.delete(id, { tokenId: token.id, ...condition });
      },
    }),
    route('GET /plants/summary', 'getSummary', 'plants:read', {
      summary: 'Count plants, tags and changes',
      description: `All of one moment, which may be ${SUMMARY_KEPT_MS / 1000} s ago, or longer where there is very much to count.`,
      response: { description: 'The counts', schema: Summary, headers: NO_STORE },
      handle: () => unlessStopping(cachedSummary(), stopping),
    }),
  ];
}

/** Counting may take longer than a stop has time for. */
async function unlessStopping<T>(work: Promise<T>, stopping: AbortSignal): Promise<T> {
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(unavailable('The service is stopping'));
  stopping.addEventListener('abort', stop);
  try {
    if (stopping.aborted) stop();
    return await Promise.race([work, stopped.promise]);
  } finally {
    stopping.removeEventListener('abort', stop);
  }
}
