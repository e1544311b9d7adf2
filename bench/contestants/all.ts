// All contestants, in the order of the table.

import type { Contestant } from './contestant.ts';
import { directus } from './directus.ts';
import { echo, expressPostgres, fastifySqlite } from './hand-written.ts';
import { jsonServer } from './json-server.ts';
import { plantStore, plantStoreOneThread, plantStorePostgres } from './plant-store.ts';
import { pocketbase } from './pocketbase.ts';
import { postgraphile } from './postgraphile.ts';
import { strapi } from './strapi.ts';

export const CONTESTANTS: Contestant[] = [
  echo,
  plantStore,
  plantStoreOneThread,
  fastifySqlite,
  pocketbase,
  jsonServer,
  plantStorePostgres,
  expressPostgres,
  postgraphile,
  strapi,
  directus,
];
