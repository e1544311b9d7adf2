// Chooses the server and the token of a command, from its options, the environment and the saved profiles.

import type { Config } from '../../config/config.ts';
import { UsageError } from '../../lib/user-error.ts';
import { getProfile, isHeaderToken, type Profiles } from './profile-file.ts';

/** Options that choose the server. They exclude each other. */
export interface ServerOptions {
  url?: string;
  profile?: string;
}

/** Where a token comes from: the environment, a saved profile, or the input of `login`. */
export type TokenSource = { kind: 'variable' } | { kind: 'profile'; name: string } | { kind: 'input' };

export interface ChosenServer {
  url: string;
  /** True if an option, PLANT_STORE_URL, PLANT_STORE_PROFILE or the current profile names the server. */
  isSelected: boolean;
  /** The token and its source. Undefined if there is no token for this URL. */
  credential: { token: string; source: TokenSource } | undefined;
}

type Settings = Pick<Config, 'clientProfile' | 'clientToken' | 'serverUrl' | 'serverUrlFrom'>;

/**
 * Returns the server of a command, or undefined if only a server on any free port is left. The token of a profile is only
 * used with the URL of that profile. `readProfiles` is called only if the options and the environment leave something open.
 */
export function chooseServer(
  options: ServerOptions,
  settings: Settings,
  readProfiles: () => Profiles,
): ChosenServer | undefined {
  const { clientProfile, clientToken, serverUrl, serverUrlFrom } = settings;
  if (options.profile !== undefined) return ofProfile(options.profile, readProfiles());
  if (options.url !== undefined) return ofUrl(readServerUrl(options.url), true);
  if (clientProfile !== undefined) {
    const other = clientToken !== undefined ? 'PLANT_STORE_TOKEN' : serverUrlFrom;
    if (other.startsWith('PLANT_STORE_')) {
      throw new UsageError(`PLANT_STORE_PROFILE and ${other} exclude each other. Unset one of them.`);
    }
    return ofProfile(clientProfile, readProfiles());
  }
  const isNamed = serverUrlFrom === 'PLANT_STORE_URL';
  if (!isNamed && clientToken === undefined) {
    const profiles = readProfiles();
    const { current, byName } = profiles;
    if (current !== undefined && byName.has(current)) return ofProfile(current, profiles);
  }
  return serverUrl === undefined ? undefined : ofUrl(serverUrl, isNamed);

  /** Returns the URL with the token of the environment, or of a profile that has this URL. */
  function ofUrl(url: string, isSelected: boolean): ChosenServer {
    if (clientToken !== undefined) {
      return { url, isSelected, credential: { token: requireToken(clientToken), source: { kind: 'variable' } } };
    }
    const { current, byName } = readProfiles();
    const matches = [...byName].filter(([, profile]) => isSameUrl(profile.url, url));
    const [name, profile] = matches.find(([one]) => one === current) ?? matches[0] ?? [];
    if (name === undefined || profile === undefined) return { url, isSelected, credential: undefined };
    const credential = { token: profile.token, source: { kind: 'profile', name } } as const;
    return { url, isSelected, credential };
  }
}

/** Returns the variable that makes commands use another server or token than this profile has, if there is one. */
export function findOverride(settings: Settings, name: string, url: string): string | undefined {
  const { clientProfile, clientToken, serverUrl, serverUrlFrom } = settings;
  if (clientToken !== undefined) return 'PLANT_STORE_TOKEN';
  if (clientProfile !== undefined) return clientProfile === name ? undefined : 'PLANT_STORE_PROFILE';
  if (serverUrl === undefined || serverUrlFrom !== 'PLANT_STORE_URL') return undefined;
  return isSameUrl(serverUrl, url) ? undefined : 'PLANT_STORE_URL';
}

function ofProfile(name: string, profiles: Profiles): ChosenServer {
  const { url, token } = getProfile(profiles, name);
  return { url, isSelected: true, credential: { token, source: { kind: 'profile', name } } };
}

/** True if both URLs name the same server and base path. Final slashes make no difference. */
function isSameUrl(one: string, other: string): boolean {
  const [first, second] = [one, other].map((url) => new URL(url).href.replace(/[?#]*$/, '').replace(/\/+$/, ''));
  return first === second;
}

function readServerUrl(text: string): string {
  if (/^https?:\/\/./.test(text) && URL.canParse(text)) return text;
  throw new UsageError('--url must be the URL of a server, such as http://127.0.0.1:3000');
}

/** Throws UsageError if nothing names a server, because PORT is 0. */
export function requireServer<T>(server: T | undefined): T {
  if (server !== undefined) return server;
  throw new UsageError(
    'PORT is 0 (any free port). Set --url or PLANT_STORE_URL to the URL of the server, or --profile.',
  );
}

/** Throws UsageError if the token contains a character that a header cannot contain. */
function requireToken(token: string): string {
  if (isHeaderToken(token)) return token;
  throw new UsageError('PLANT_STORE_TOKEN contains an invalid character. Set it again.');
}
