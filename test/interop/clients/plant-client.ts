// The calls that every generated client must support. walk.ts makes them.

interface ListQuery {
  limit?: number;
  tag?: string[];
  sort?: 'name' | '-name';
  count?: boolean;
}

export interface PlantClient {
  create(plant: { id: number; name: string; tag?: string }): Promise<{ name: string; tag?: string }>;
  list(query: ListQuery): Promise<{ plants: { id: number; name: string }[]; total: string | null }>;
  history(id: number): Promise<{ type: string; tokenName?: string }[]>;
  patch(id: number, patch: { tag?: string | null }, ifMatch: string): Promise<{ id: number; tag?: string }>;
  import(file: string): Promise<{ created: number; replayed: number; failed: number }>;
  delete(id: number): Promise<unknown>;
}

/** Returns a client that sends the token. A client that ignores the URL uses the one of the description. */
export type CreateClient = (options: { token: string; url: string }) => PlantClient;
