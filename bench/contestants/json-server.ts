// json-server: a JSON file behind HTTP, for prototypes.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../testing/free-port.ts';
import { install, installedVersion } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, CREATE } from './contestant.ts';

const VERSION = '0.17.4';

export const jsonServer: Contestant = {
  name: 'json-server',
  group: 'peer',
  setup: 'command line with --quiet on a file {"plants":[]}, no token',
  survives: 'nothing',
  promise: 'in memory: rewrites the whole file without fsync, and does not wait for it',
  async start(folder) {
    const packages = await install('json-server', { 'json-server': VERSION });
    const file = join(folder, 'plants.json');
    writeFileSync(file, '{"plants":[]}');
    const port = String(await freePort());
    const cli = join(packages, 'node_modules/json-server/lib/cli/bin.js');
    const server = await startProcess(process.execPath, [cli, '--quiet', '--host', '127.0.0.1', '--port', port, file], {
      cwd: folder,
      env: { NODE_ENV: 'production' },
      address: `http://127.0.0.1:${port}`,
    });
    return {
      ...server,
      version: installedVersion(packages, 'json-server'),
      create: CREATE,
      async countPlants() {
        const { headers } = await fetch(`${server.url}/plants?_limit=1`, { method: 'HEAD' });
        return Number(headers.get('x-total-count'));
      },
    };
  },
};
