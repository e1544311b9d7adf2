// Formats the banner that a started server prints on a terminal: addresses, database, and how to get and use a token.

import { networkInterfaces } from 'node:os';
import { resolve } from 'node:path';
import { styleText } from 'node:util';
import packageJson from '../../../package.json' with { type: 'json' };
import { OWN_COMMAND } from '../../config/command-name.ts';
import { type Config, describeDatabase } from '../../config/config.ts';
import { toSafeText } from '../../lib/safe-text.ts';
import { toShellWord } from '../../lib/shell-word.ts';
import type { Output } from '../command-io.ts';

const LABEL_WIDTH = 'Database'.length;
const EXAMPLE = '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}';

interface StartedServer {
  /** URL of the service, including the base path. */
  url: string;
  config: Config;
  /** True if this start has created the database file. */
  isNewStore: boolean;
  /** Time from the start of the process until the service was ready. */
  readyMs: number;
  /** Secret of the first token, only at the first start. */
  firstSecret: string | undefined;
}

/** Returns the banner. No line of a default installation is wider than 80 columns. */
export function toBanner(server: StartedServer, stream: Output): string {
  const { url, config, isNewStore, readyMs, firstSecret } = server;
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, toSafeText(text), { stream });
  const line = (label: string, text: string) => `  ${style('dim', label.padEnd(LABEL_WIDTH))}  ${text}`;
  const network = networkUrl(url, config.host);
  const lines = [
    `  ${style(['bold', 'green'], 'Plant Store')} ${style('green', packageJson.version)}  ${style('dim', `ready in ${Math.round(readyMs)} ms`)}`,
    '',
    line('Console', style('cyan', `${url}/`)),
    ...(network === undefined ? [] : [line('Network', style('cyan', `${network}/`))]),
    line('API', style('cyan', `${url}/plants`)),
    line('Docs', style('cyan', `${url}/docs`)),
    line('Database', style([], databaseOf(config)) + (isNewStore ? style('yellow', '  new, empty store') : '')),
    ...(firstSecret === undefined
      ? [
          '',
          `  Create a token with all scopes, for the console and the API${sameDatabase(config)}:`,
          '',
          `    ${OWN_COMMAND} token create --name me --scopes all \\`,
          `      ${databaseOption(config)}`,
        ]
      : [
          line('Token', style('bold', firstSecret)),
          line('', style('yellow', 'All scopes. Shown only once: store it now.')),
          '',
          '  Store a plant:',
          '',
          ...storePlant(url, firstSecret),
        ]),
    '',
    `  ${style('dim', 'Press Ctrl-C to stop.')}`,
  ];
  return `\n${lines.join('\n')}\n\n`;
}

/** Returns the absolute path of a SQLite database, or the URL of a PostgreSQL database without its password. */
function databaseOf({ database }: Config): string {
  return database.kind === 'sqlite' ? resolve(database.path) : describeDatabase(database);
}

/** Returns a condition for commands on PostgreSQL, whose URL can contain a password and is not shown. */
function sameDatabase({ database }: Config): string {
  return database.kind === 'postgres' ? ',\n  in a terminal with the same DATABASE_URL' : '';
}

/** Returns the option that selects the database of this server in any folder, although a profile may be in use. */
export function databaseOption({ database }: Config): string {
  return database.kind === 'sqlite'
    ? `--database ${toShellWord(toSafeText(`sqlite:${resolve(database.path)}`))}`
    : '--database';
}

function storePlant(url: string, secret: string): string[] {
  return [
    `    curl -w '\\n' ${url}/plants \\`,
    `      -H "Authorization: Bearer ${secret}" \\`,
    '      -H "Content-Type: application/json" \\',
    `      -d '${EXAMPLE}'`,
  ];
}

/** Returns a URL with an address of this machine if the server listens on all interfaces. */
function networkUrl(url: string, host: string): string | undefined {
  if (host !== '0.0.0.0' && host !== '::') return undefined;
  const addresses = Object.values(networkInterfaces()).flat();
  const address = addresses.find((each) => each?.family === 'IPv4' && !each.internal)?.address;
  return address && url.replace('//localhost:', `//${address}:`);
}
