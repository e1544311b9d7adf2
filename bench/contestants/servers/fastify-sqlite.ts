// A typical implementation: Fastify with a schema, and one INSERT in its own transaction per request.

import { DatabaseSync } from 'node:sqlite';
import fastify from 'fastify';
import { listen } from './listen.ts';

const db = new DatabaseSync(process.env.DATABASE_PATH ?? '');
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
db.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
const insert = db.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)');

const plant = { name: { type: 'string' }, tag: { type: 'string' } };
const schema = {
  body: { type: 'object', required: ['id', 'name'], properties: { id: { type: 'integer' }, ...plant } },
  response: { 200: { type: 'object', properties: plant } },
};

const app = fastify();
app.post<{ Body: { id: number; name: string; tag?: string } }>('/plants', { schema }, async (request) => {
  const { id, name, tag } = request.body;
  insert.run(id, name, tag ?? null);
  return { name, tag };
});
await app.ready();
listen(app.server);
