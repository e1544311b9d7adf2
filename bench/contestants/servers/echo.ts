// The least that Node can do: read a body, parse it and send it back. A GET is answered with the last body.

import { createServer } from 'node:http';
import { listen } from './listen.ts';

let last = Buffer.from('{}');

listen(
  createServer((request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': last.length });
      response.end(last);
      return;
    }
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      last = Buffer.concat(chunks);
      JSON.parse(last.toString());
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': last.length });
      response.end(last);
    });
  }),
);
