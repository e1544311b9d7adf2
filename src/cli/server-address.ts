// Where a command finds a server and what it shows there, or one line that says what is wrong with that.

import type { Config } from '../config/config.ts';
import { UsageError } from '../lib/user-error.ts';

export function readServerUrl(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--url takes the address of a server, such as http://127.0.0.1:3000');
}

/** Anything else cannot be in a header. */
export function requireToken(token: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new UsageError('PLANT_STORE_TOKEN has a character that no token has: set it again');
}

export function requireServerUrl({ serverUrl }: Config): string {
  if (serverUrl !== undefined) return serverUrl;
  throw new UsageError('PORT is 0, which is any free port: say with --url or PLANT_STORE_URL where the server is');
}
