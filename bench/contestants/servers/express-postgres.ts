// A typical implementation: Express with its JSON parser, a pool of 10, and one INSERT per request.

import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import pg from 'pg';
import { listen } from './listen.ts';

const express = createRequire(process.env.EXPRESS_PACKAGE ?? '')('express');
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');

interface Asked {
  body: { id: number; name: string; tag?: string };
}

const app = express();
app.use(express.json());
app.post('/plants', async ({ body: { id, name, tag } }: Asked, response: { json(body: unknown): void }) => {
  await pool.query('INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3)', [id, name, tag]);
  response.json({ name, tag });
});
listen(createServer(app));
