// Everyone who takes part, in the order of the table.

import type { Contestant } from './contestant.ts';
import { echo } from './echo.ts';
import { expressPostgres } from './express-postgres.ts';
import { fastifySqlite } from './fastify-sqlite.ts';
import { plantStore, plantStorePostgres } from './plant-store.ts';

export const CONTESTANTS: Contestant[] = [echo, plantStore, fastifySqlite, plantStorePostgres, expressPostgres];
