// Strapi, a content management system, on PostgreSQL.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../testing/free-port.ts';
import { install, installedVersion } from '../install.ts';
import { startProcess } from '../server.ts';
import { type Contestant, JSON_HEADERS, onPostgres } from './contestant.ts';

const VERSION = '5.54.0';
const PG_VERSION = '8.23.1';

/** The relevant part of a generated project. Strapi assigns its own ids, so our id is the attribute `number`. */
const PROJECT: Record<string, string> = {
  'package.json': JSON.stringify({ name: 'plants', private: true, dependencies: { '@strapi/strapi': VERSION } }),
  'config/server.js': `module.exports = ({ env }) => ({
    host: '127.0.0.1', port: env.int('PORT'), app: { keys: ['bench'] } })`,
  'config/admin.js': `module.exports = {
    auth: { secret: 'bench' }, apiToken: { salt: 'bench' }, transfer: { token: { salt: 'bench' } },
    secrets: { encryptionKey: 'a secret of 32 characters, or so' }, serveAdminPanel: false }`,
  'config/database.js': `module.exports = ({ env }) => ({ connection: {
    client: 'postgres', connection: { connectionString: env('DATABASE_URL') }, pool: { min: 2, max: 10 } } })`,
  'config/middlewares.js': `module.exports = ['logger', 'errors', 'security', 'cors', 'poweredBy', 'query', 'body',
    'session', 'favicon', 'public'].map((name) => 'strapi::' + name)`,
  'src/api/plant/content-types/plant/schema.json': JSON.stringify({
    kind: 'collectionType',
    collectionName: 'plants',
    info: { singularName: 'plant', pluralName: 'plants', displayName: 'Plant' },
    options: { draftAndPublish: false },
    attributes: {
      number: { type: 'biginteger', required: true },
      name: { type: 'text', required: true },
      tag: { type: 'text' },
    },
  }),
  'src/api/plant/controllers/plant.js': toCore('Controller'),
  'src/api/plant/routes/plant.js': toCore('Router'),
  'src/api/plant/services/plant.js': toCore('Service'),
  'src/index.js': `module.exports = { async bootstrap({ strapi }) {
    const wanted = { name: 'bench', description: '', type: 'full-access', lifespan: null };
    const { accessKey } = await strapi.service('admin::api-token').create(wanted);
    require('node:fs').writeFileSync('token', accessKey) } }`,
  'public/uploads/.gitkeep': '',
};

export const strapi: Contestant = {
  name: 'strapi',
  group: 'peer',
  setup: 'defaults on PostgreSQL, no admin panel; content type plant, full-access API token',
  survives: 'power cut',
  promise: 'survives a power cut: synchronous commit',
  async start(folder) {
    const packages = await install('strapi', { '@strapi/strapi': VERSION, pg: PG_VERSION });
    for (const [path, text] of Object.entries(PROJECT)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    symlinkSync(join(packages, 'node_modules'), join(folder, 'node_modules'));
    return onPostgres(async ({ url, countRows }) => {
      const server = await startProcess(process.execPath, ['node_modules/@strapi/strapi/bin/strapi.js', 'start'], {
        cwd: folder,
        env: {
          NODE_ENV: 'production',
          DATABASE_URL: url,
          PORT: String(await freePort()),
          STRAPI_TELEMETRY_DISABLED: 'true',
        },
        address: /(http:\/\/127\S+)\/admin/,
      });
      return {
        ...server,
        version: installedVersion(packages, '@strapi/strapi'),
        create: {
          method: 'POST',
          path: '/api/plants',
          headers: { ...JSON_HEADERS, Authorization: `Bearer ${readFileSync(join(folder, 'token'), 'utf8')}` },
          body: '{"data":{"number":{n},"name":"Monstera deliciosa {n}","tag":"tropical"}}',
        },
        countPlants: () => countRows('plants'),
      };
    });
  },
};

function toCore(part: string): string {
  return `module.exports = require('@strapi/strapi').factories.createCore${part}('api::plant.plant')`;
}
