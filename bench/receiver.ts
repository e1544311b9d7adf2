// A process that receives and counts webhooks. It returns 200, except for paths that start with /hang.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

let received = 0;
createServer((request, response) => {
  request.resume();
  if (request.url?.startsWith('/hang')) return;
  request.on('end', () => {
    received++;
    response.end('ok');
  });
}).listen(0, '127.0.0.1', function (this: { address(): unknown }) {
  process.send?.({ port: (this.address() as AddressInfo).port });
});
setInterval(() => process.send?.({ received }), 100);
