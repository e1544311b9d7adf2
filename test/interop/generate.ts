// Generates clients from the OpenAPI description of a running server, compiles them, and runs their calls.

import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { TOOL_ENV } from './install.ts';

const COMPILER_OPTIONS = {
  target: 'esnext',
  lib: ['esnext', 'dom', 'dom.iterable'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  skipLibCheck: true,
  rewriteRelativeImportExtensions: true,
  rootDir: '.',
  outDir: 'built',
};

const heyApiConfig = (description: string) => ({
  input: description,
  output: { path: 'generated/hey-api', importFileExtension: '.js' },
});

const orvalConfig = (description: string) => ({
  plants: {
    input: description,
    output: { target: 'generated/orval.ts', client: 'fetch', baseUrl: { getBaseUrlFromSpecification: true } },
  },
});

const kubbConfig = (description: string) => `
import { pluginClient } from '@kubb/plugin-client';
import { pluginOas } from '@kubb/plugin-oas';
import { pluginTs } from '@kubb/plugin-ts';

export default {
  input: { path: '${description}' },
  output: { path: 'generated/kubb', format: false, lint: false },
  plugins: [pluginOas(), pluginTs(), pluginClient({ bundle: true })],
};
`;

/** The command of each generator, for the URL of a description. */
export const GENERATORS: Record<string, (description: string) => string[]> = {
  'openapi-typescript': (url) => ['openapi-typescript', url, '--output', 'generated/openapi-typescript.d.ts'],
  'hey-api': () => ['openapi-ts', '--file', 'hey-api.config.mjs', '--no-log-file'],
  orval: () => ['orval', '--config', 'orval.config.mjs'],
  kubb: () => ['kubb', 'generate', '--config', 'kubb.config.mjs'],
  'swagger-typescript-api': (url) => [
    ...['swagger-typescript-api', 'generate', '--path', url],
    ...['--output', 'generated', '--name', 'swagger-typescript-api.ts'],
  ],
};

/** Generates the client in an empty folder and compiles it with its calls, under `strict`. */
export async function generateClient(name: string, folder: string, tools: string, url: string): Promise<void> {
  const description = `${url}/openapi.json`;
  mkdirSync(join(folder, 'generated'));
  symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'));
  for (const file of ['plant-client.ts', 'walk.ts', `${name}.ts`]) {
    cpSync(join(import.meta.dirname, 'clients', file), join(folder, file));
  }
  write('package.json', JSON.stringify({ type: 'module' }));
  write('tsconfig.json', JSON.stringify({ compilerOptions: COMPILER_OPTIONS }));
  write('hey-api.config.mjs', `export default ${JSON.stringify(heyApiConfig(description))};`);
  write('orval.config.mjs', `export default ${JSON.stringify(orvalConfig(description))};`);
  write('kubb.config.mjs', kubbConfig(description));
  await runTool(folder, tools, GENERATORS[name]?.(description) ?? []);
  await runTool(folder, tools, ['tsc']);

  function write(file: string, text: string): void {
    writeFileSync(join(folder, file), text);
  }
}

/** Makes the calls of walk.ts with the compiled client. */
export async function walkWith(name: string, folder: string, url: string, token: string): Promise<void> {
  await run(process.execPath, ['built/walk.js', name, url, token], folder);
}

/** Runs a command of the installed tools and returns what it printed. Throws with its output if it fails. */
export function runTool(folder: string, tools: string, [command = '', ...args]: string[]): Promise<string> {
  return run(join(tools, 'node_modules/.bin', command), args, folder);
}

async function run(command: string, args: string[], cwd: string): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { cwd, env: TOOL_ENV, timeout: 120_000 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new Error(`${message}\n${stdout}${stderr}`);
  }
}
