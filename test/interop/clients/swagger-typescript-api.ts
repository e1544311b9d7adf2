import { Api } from './generated/swagger-typescript-api.ts';
import type { CreateClient } from './plant-client.ts';

export const createClient: CreateClient = ({ token }) => {
  const { plants } = new Api({ securityWorker: () => ({ headers: { Authorization: `Bearer ${token}` } }) });
  return {
    create: async (plant) => (await plants.createPlant(plant)).data,
    list: async (query) => {
      const { data, headers } = await plants.listPlants(query);
      return { plants: data, total: headers.get('total-count') };
    },
    history: async (id) => (await plants.listPlantChanges(id)).data,
    patch: async (id, patch, ifMatch) =>
      (await plants.patchPlant(id, patch, { headers: { 'If-Match': ifMatch } })).data,
    import: async (file) => (await plants.importPlants(file)).data,
    delete: (id) => plants.deletePlant(id),
  };
};
