import { axiosInstance } from './generated/kubb/.kubb/fetch.ts';
import { createPlant } from './generated/kubb/clients/createPlant.ts';
import { deletePlant } from './generated/kubb/clients/deletePlant.ts';
import { importPlants } from './generated/kubb/clients/importPlants.ts';
import { listPlantChanges } from './generated/kubb/clients/listPlantChanges.ts';
import { listPlants } from './generated/kubb/clients/listPlants.ts';
import { patchPlant } from './generated/kubb/clients/patchPlant.ts';
import type { CreateClient } from './plant-client.ts';

export const createClient: CreateClient = ({ url, token }) => {
  axiosInstance.defaults.baseURL = url;
  axiosInstance.defaults.headers.common.Authorization = `Bearer ${token}`;
  let total: string | null = null;
  axiosInstance.interceptors.response.use((response) => {
    total = (response.headers['total-count'] as string | undefined) ?? null;
    return response;
  });
  return {
    create: (plant) => createPlant(plant),
    list: async (query) => ({ plants: await listPlants(query), total }), // kubb returns no headers
    history: (id) => listPlantChanges(id),
    patch: (id, patch, ifMatch) => patchPlant(id, patch, { 'If-Match': ifMatch }),
    import: (file) => importPlants(file),
    delete: (id) => deletePlant(id),
  };
};
