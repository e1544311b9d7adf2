// Everything under /plants.

import { NewPlant, Plant, type PlantStore } from '../plant.ts';
import { type Route, route } from './route.ts';

export function plantRoutes(store: PlantStore, basePath: string): Route[] {
  return [
    route({
      method: 'POST',
      path: '/plants',
      access: 'plants:write',
      operationId: 'createPlant',
      summary: 'Create a plant',
      description:
        'Stored for good when the 200 is sent. The same plant sent again is answered again and stored once; ' +
        'a different plant under a taken id is refused.',
      body: NewPlant,
      answer: {
        description: 'The plant is stored',
        schema: Plant,
        headers: {
          ETag: 'Number of the change that made this version, quoted',
          Location: 'Path of the record',
          'Idempotent-Replayed': '`true` when the same plant was stored before',
        },
      },
      errors: ['id_taken'],
      async handle({ body: { id, ...plant }, token, reply }) {
        const { seq, replayed } = await store.create({ id, ...plant }, token.id);
        reply.header('etag', `"${seq}"`).header('location', `${basePath}/plants/${id}`);
        if (replayed) reply.header('idempotent-replayed', 'true');
        return plant;
      },
    }),
  ];
}
