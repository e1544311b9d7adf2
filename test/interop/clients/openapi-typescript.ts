import createFetchClient from 'openapi-fetch';
import type { paths } from './generated/openapi-typescript.d.ts';
import type { CreateClient } from './plant-client.ts';

export const createClient: CreateClient = ({ url, token }) => {
  const client = createFetchClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });
  return {
    create: async (body) => dataOf(await client.POST('/plants', { body })),
    list: async (query) => {
      const listed = await client.GET('/plants', { params: { query } });
      return { plants: dataOf(listed), total: listed.response.headers.get('total-count') };
    },
    history: async (id) => dataOf(await client.GET('/plants/{id}/changes', { params: { path: { id } } })),
    patch: async (id, body, ifMatch) =>
      dataOf(await client.PATCH('/plants/{id}', { params: { path: { id }, header: { 'If-Match': ifMatch } }, body })),
    import: async (body) =>
      dataOf(
        await client.POST('/plants/import', {
          body,
          bodySerializer: (text) => text, // openapi-fetch encodes every other body as JSON
          headers: { 'Content-Type': 'text/csv' },
        }),
      ),
    delete: async (id) => {
      const { error } = await client.DELETE('/plants/{id}', { params: { path: { id } } });
      if (error) throw new Error(error.message);
    },
  };
};

function dataOf<T>({ data, error }: { data?: T; error?: { message: string } }): T {
  if (data === undefined) throw new Error(error?.message);
  return data;
}
