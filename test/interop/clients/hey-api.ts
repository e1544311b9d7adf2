import { client } from './generated/hey-api/client.gen.ts';
import {
  createPlant,
  deletePlant,
  importPlants,
  listPlantChanges,
  listPlants,
  patchPlant,
} from './generated/hey-api/sdk.gen.ts';
import type { CreateClient } from './plant-client.ts';

const throwOnError = true;

export const createClient: CreateClient = ({ token }) => {
  client.setConfig({ auth: () => token });
  return {
    create: async (body) => (await createPlant({ body, throwOnError })).data,
    list: async (query) => {
      const { data, response } = await listPlants({ query, throwOnError });
      return { plants: data, total: response.headers.get('total-count') };
    },
    history: async (id) => (await listPlantChanges({ path: { id }, throwOnError })).data,
    patch: async (id, body, ifMatch) =>
      (await patchPlant({ path: { id }, body, headers: { 'If-Match': ifMatch }, throwOnError })).data,
    import: async (body) => (await importPlants({ body, throwOnError })).data,
    delete: (id) => deletePlant({ path: { id }, throwOnError }),
  };
};
