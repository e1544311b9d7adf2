import { createPlant, deletePlant, importPlants, listPlantChanges, listPlants, patchPlant } from './generated/orval.ts';
import type { CreateClient } from './plant-client.ts';

export const createClient: CreateClient = ({ token }) => {
  const headers = { Authorization: `Bearer ${token}` };
  return {
    create: async (plant) => {
      const response = await createPlant(plant, { headers });
      if (response.status !== 200) throw new Error(response.data.message);
      return response.data;
    },
    list: async (query) => {
      const response = await listPlants(query, { headers });
      if (response.status !== 200) throw new Error(response.data.message);
      return { plants: response.data, total: response.headers.get('total-count') };
    },
    history: async (id) => {
      const response = await listPlantChanges(id, undefined, { headers });
      if (response.status !== 200) throw new Error(response.data.message);
      return response.data;
    },
    patch: async (id, patch, ifMatch) => {
      const response = await patchPlant(id, patch, { headers: { ...headers, 'If-Match': ifMatch } });
      if (response.status !== 200) throw new Error(response.data.message);
      return response.data;
    },
    import: async (file) => {
      const response = await importPlants(file, undefined, { headers });
      if (response.status !== 200) throw new Error(response.data.message);
      return response.data;
    },
    delete: async (id) => {
      const response = await deletePlant(id, { headers });
      if (response.status !== 204) throw new Error(response.data.message);
    },
  };
};
