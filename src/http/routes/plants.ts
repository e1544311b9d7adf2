// The routes under /plants, except for import and export (import-export.ts).

import { z } from 'zod';
import { Change, type ChangeLog } from '../../domain/change.ts';
import { PlantStoreError } from '../../domain/errors.ts';
import { MAX_COUNTED } from '../../domain/list-order.ts';
import { NewPlant, Plant, PlantPatch, PlantRecord, type PlantStore } from '../../domain/plant.ts';
import { Summary } from '../../domain/plant-summary.ts';
import { preconditionHolds } from '../../domain/precondition.ts';
import { requesterOf } from '../access/requester.ts';
import { etagOf } from '../core/etag.ts';
import { jsonBody } from '../core/json-body.ts';
import { count, cursor, id, ifMatch, ifNoneMatch, limit, offset, q, sort, tag, untagged } from '../core/parameters.ts';
import { NO_STORE, type Route, route } from '../core/route.ts';
import { type ReadSummary, SUMMARY_KEPT_MS } from './cached-summary.ts';

const ETAG = { ETag: 'The quoted number of the change that created this version' };
const NEXT_PAGE = 'URL of the next page with `rel="next"` (RFC 8288). Absent on the last page.';
const TOTAL_COUNT = `With \`count=true\`: the number of plants that match, or \`>${MAX_COUNTED}\` if a filter matches more. Without a filter, the number is always exact.`;
const IF_UNCHANGED = { id, ifMatch, ifNoneMatch };

export function plantRoutes(
  store: PlantStore & Pick<ChangeLog, 'history'>,
  basePath: string,
  readSummary: ReadSummary,
): Route[] {
  return [
    route('POST /plants', 'createPlant', 'plants:write', {
      summary: 'Create a plant',
      description:
        'Creates a plant with an id that you choose and returns its name and tag. Once you receive the 200, the plant is durable. ' +
        'If you send the same plant again, the server stores nothing and returns the same response, so a retry is safe. ' +
        'If another client has deleted the plant in between, the retry creates it again. ' +
        'If the id belongs to a different plant, the server returns 400 with error 40009.',
      body: jsonBody(NewPlant),
      isConcurrent: true,
      response: {
        description: 'The stored plant',
        schema: Plant,
        headers: {
          ...ETAG,
          Location: 'Path of the record',
          'Idempotent-Replayed': '`true` if the same plant already existed',
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
      takesTurn: true,
      summary: 'List plants',
      description:
        'Returns a page of plants, in ascending order of id unless you set `sort`. The `Link` header has the URL of the next page. ' +
        'A page can hold fewer than `limit` plants when they are large. If you follow all `Link` headers, you get every ' +
        'plant that does not change in the meantime exactly once, even while other clients write. ' +
        'In an order other than by id, a plant that changes can appear twice or not at all.',
      parameters: { limit, cursor, offset, sort, tag, untagged, q, count },
      response: {
        description: 'A page of records',
        schema: z.array(PlantRecord),
        headers: { Link: NEXT_PAGE, 'Total-Count': TOTAL_COUNT },
      },
      async handle({ parameters: { count, ...query }, token, reply }) {
        const { cursor: _, offset: __, ...same } = query;
        const requester = requesterOf(token, reply);
        const [{ records, next }, total] = await Promise.all([
          store.list(query, requester),
          count ? store.count(query, requester) : undefined,
        ]);
        if (total) reply.header('total-count', `${total.isMore ? '>' : ''}${total.plants}`);
        if (next !== undefined) reply.nextPage(`${basePath}/plants`, { ...same, count, cursor: next });
        return records;
      },
    }),
    route('GET /plants/:id', 'getPlant', 'plants:read', {
      summary: 'Get a plant',
      description:
        'Returns the record of a plant. With `If-None-Match`, the server returns 304 if the record has not changed.',
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
    route('GET /plants/:id/changes', 'listPlantChanges', 'plants:read', {
      takesTurn: true,
      summary: 'Get the history of a plant',
      description:
        'Returns the changes of a plant, newest first, back to its creation or to the last prune of the change log. ' +
        'A page can hold fewer than `limit` changes when they are large. ' +
        'If the id was deleted and used again, the history starts with the last creation.',
      parameters: { id, limit, cursor },
      response: { description: 'A page of changes', schema: z.array(Change), headers: { Link: NEXT_PAGE } },
      errors: ['not_found'],
      async handle({ parameters: { id, ...query }, reply }) {
        const { changes, next } = await store.history(id, query);
        if (next !== undefined)
          reply.nextPage(`${basePath}/plants/${id}/changes`, { limit: query.limit, cursor: next });
        return changes;
      },
    }),
    route('PUT /plants/:id', 'putPlant', 'plants:write', {
      summary: 'Create or replace a plant',
      description:
        'Replaces the plant with this id, or creates it, and returns the record. If the record is already the same, the server ' +
        'keeps its `ETag` and adds no change to the change log. Use `If-None-Match: *` to only create and `If-Match` to only replace.',
      parameters: IF_UNCHANGED,
      body: jsonBody(Plant),
      isConcurrent: true,
      response: { description: 'The current record', schema: PlantRecord, headers: ETAG },
      errors: ['condition_failed'],
      async handle({ parameters: { id, ...condition }, body, token, reply }) {
        const { record, seq } = await store.put(id, body, { tokenId: token.id, ...condition });
        reply.header('etag', etagOf(seq));
        return record;
      },
    }),
    route('PATCH /plants/:id', 'patchPlant', 'plants:write', {
      summary: 'Update a plant',
      description:
        'Changes the name or the tag of a plant with a JSON merge patch (RFC 7396) and returns the record. ' +
        'Fields that you omit keep their values. `"tag": null` removes the tag.',
      parameters: IF_UNCHANGED,
      body: jsonBody(PlantPatch, 'application/merge-patch+json'),
      isConcurrent: true,
      response: { description: 'The current record', schema: PlantRecord, headers: ETAG },
      errors: ['not_found', 'condition_failed'],
      async handle({ parameters: { id, ...condition }, body, token, reply }) {
        const { record, seq } = await store.patch(id, body, { tokenId: token.id, ...condition });
        reply.header('etag', etagOf(seq));
        return record;
      },
    }),
    route('DELETE /plants/:id', 'deletePlant', 'plants:write', {
      summary: 'Delete a plant',
      description: 'Deletes a plant permanently. Its id can then be used for a new plant.',
      parameters: IF_UNCHANGED,
      response: { status: 204, description: 'The plant is deleted' },
      errors: ['not_found', 'condition_failed'],
      async handle({ parameters: { id, ...condition }, token }) {
        await store.delete(id, { tokenId: token.id, ...condition });
      },
    }),
    route('GET /plants/summary', 'getSummary', 'plants:read', {
      summary: 'Count plants, tags and changes',
      description: `Returns the number of plants, the most common tags, and the changes per hour, from one consistent snapshot. The snapshot can be ${SUMMARY_KEPT_MS / 1000} s old, or older if the store is very large.`,
      response: { description: 'The counts', schema: Summary, headers: NO_STORE },
      handle: () => readSummary(),
    }),
  ];
}
