// Builds the console and the docs page into dist/console. They load nothing from other hosts. Each file is stored
// compressed, so that the server does not compress responses.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';
import { defineConfig, type Plugin } from 'vite';

const ROOT = import.meta.dirname;
const OUT = join(ROOT, '../dist/console');
const { name: PACKAGE_NAME } = JSON.parse(readFileSync(join(ROOT, '../package.json'), 'utf8')) as { name: string };

export default defineConfig({
  root: ROOT,
  base: './', // The server may have a BASE_PATH.
  logLevel: 'warn',
  publicDir: false,
  resolve: {
    alias: {
      [`${PACKAGE_NAME}/client`]: join(ROOT, '../src/client/client.ts'),
      // Base UI is written for React.
      'react/jsx-runtime': 'preact/jsx-runtime',
      'react-dom': 'preact/compat',
      react: 'preact/compat',
    },
  },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // Inlined assets would require data: URLs in the content security policy.
    rolldownOptions: {
      input: [join(ROOT, 'index.html'), join(ROOT, 'docs.html')],
      onLog: (level, log, handle) => log.code === 'MODULE_LEVEL_DIRECTIVE' || handle(level, log), // "use client"
    },
  },
  plugins: [scalarScript(), sampleSpecies(), compressed()],
});

/** Resolves `scalar-script` to the URL of Scalar in our own files. Only its Fastify package contains it as one file. */
function scalarScript(): Plugin {
  return {
    name: 'scalar-script',
    resolveId: (id) => (id === 'scalar-script' ? id : undefined),
    async load(id) {
      if (id !== 'scalar-script') return undefined;
      const app = fastify();
      await app.register(scalar, { routePrefix: '/docs', configuration: { content: {} } });
      const { body } = await app.inject('/docs/js/scalar.js');
      const file = this.emitFile({ type: 'asset', name: 'scalar.js', source: body });
      return `export default import.meta.ROLLUP_FILE_URL_${file};`;
    },
  };
}

/** Resolves `sample-species` to the URL of the species that ship with the project, and to their number. */
function sampleSpecies(): Plugin {
  return {
    name: 'sample-species',
    resolveId: (id) => (id === 'sample-species' ? id : undefined),
    load(id) {
      if (id !== 'sample-species') return undefined;
      const source = readFileSync(join(ROOT, '../examples/species.csv'), 'utf8');
      const file = this.emitFile({ type: 'asset', name: 'species.csv', source });
      const rows = source.trimEnd().split('\n').length - 1;
      return `export const url = import.meta.ROLLUP_FILE_URL_${file}; export const count = ${rows};`;
    },
  };
}

function compressed(): Plugin {
  return {
    name: 'compressed',
    closeBundle() {
      for (const entry of readdirSync(OUT, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        writeFileSync(`${path}.gz`, gzipSync(readFileSync(path), { level: constants.Z_BEST_COMPRESSION }));
        rmSync(path);
      }
    },
  };
}
