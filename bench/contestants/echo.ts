// The floor: what HTTP and JSON alone cost on Node.

import { join } from 'node:path';
import { startProcess } from '../server.ts';
import { type Contestant, CREATE, SERVERS } from './contestant.ts';

export const echo: Contestant = {
  name: 'echo',
  group: 'floor',
  version: process.version,
  setup: 'plain node:http that parses the body and sends it back, no token: the floor',
  promise: 'nothing is stored',
  async start() {
    const server = await startProcess(process.execPath, [join(SERVERS, 'echo.ts')], { address: /^(http.+)$/ });
    return {
      ...server,
      create: CREATE,
      get: { method: 'GET', path: '/plants/{n}', headers: {} },
    };
  },
};
