// The baseline of postgres.ts over HTTP: a minimal server that stores each plant with one INSERT.

import { createServer } from 'node:http';
import pg from 'pg';
import { listen } from './contestants/servers/listen.ts';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const { id, name, tag } = JSON.parse(Buffer.concat(chunks).toString());
      await pool.query('INSERT INTO plain (id, name, tag) VALUES ($1, $2, $3)', [id, name, tag]);
      const body = JSON.stringify({ name, tag });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  }),
);
