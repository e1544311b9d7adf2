// The file of saved profiles: the URL of a server and a token each. Only its owner can read it, since it holds secrets.

import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { OWN_COMMAND } from '../../config/command-name.ts';
import { toShellWord } from '../../lib/shell-word.ts';
import { undoAtEnd } from '../../lib/undo-at-end.ts';
import { UsageError, UserError } from '../../lib/user-error.ts';

const LOCK_RETRY_MS = 50;
const LOCK_RETRIES = 40;
const IS_POSIX = process.platform !== 'win32';

export interface Profile {
  url: string;
  token: string;
  /** Id of the token. A JWT has none. */
  tokenId?: string;
}

export interface Profiles {
  /** Name of the profile that commands use by default. */
  current: string | undefined;
  byName: Map<string, Profile>;
}

/** Returns the path of the file, or undefined if the environment names no config folder. */
export function findProfilesPath(
  env: Record<string, string | undefined>,
  platform: string = process.platform,
): string | undefined {
  const { XDG_CONFIG_HOME: xdg, APPDATA: appData, HOME: home } = env;
  if (xdg && isAbsolute(xdg)) return join(xdg, 'plant-store/profiles.json');
  if (platform === 'win32') return appData ? join(appData, 'plant-store/profiles.json') : undefined;
  if (!home || !isAbsolute(home)) return undefined;
  const folder = platform === 'darwin' ? 'Library/Application Support' : '.config';
  return join(home, folder, 'plant-store/profiles.json');
}

export function requireProfilesPath(env: Record<string, string | undefined>): string {
  const path = findProfilesPath(env);
  if (path !== undefined) return path;
  const variable = IS_POSIX ? 'HOME' : 'APPDATA';
  throw new UserError(`Cannot find the folder of the profiles: ${variable} is not set. Set it or XDG_CONFIG_HOME.`);
}

/** Returns the saved profiles, if any. Throws UserError if the file is damaged, or if other users can read it. */
export function readProfiles(path: string | undefined): Profiles {
  const text = path === undefined ? undefined : readPrivateFile(path);
  if (text === undefined) return { current: undefined, byName: new Map() };
  const profiles = parseProfiles(text);
  if (profiles) return profiles;
  throw new UserError(`${path} is damaged. Fix or delete it, then run "${OWN_COMMAND} login" again.`);
}

/** Throws UsageError if no profile has this name. */
export function getProfile({ byName }: Profiles, name: string): Profile {
  const profile = byName.get(readProfileName(name));
  if (profile) return profile;
  const known = byName.size === 0 ? 'None is saved' : `Saved profiles: ${[...byName.keys()].join(', ')}`;
  throw new UsageError(`No profile has the name "${name}". ${known}.`);
}

/** Throws UsageError if the text cannot be the name of a profile. It is not echoed, because it may be a secret. */
export function readProfileName(text: string): string {
  if (/^[\w.-]{1,64}$/.test(text) && !/^pst_/i.test(text)) return text;
  throw new UsageError('The name of a profile must have 1 to 64 letters, digits, dots, dashes or underscores');
}

/**
 * Changes the saved profiles. The new content is written to a second file, which replaces the first one when it is
 * complete. As only one process can create that file, it is a lock as well.
 */
export async function updateProfiles(givenPath: string, change: (profiles: Profiles) => void): Promise<void> {
  const path = existsSync(givenPath) ? realpathSync(givenPath) : givenPath; // a link stays, and its target changes
  const draft = `${path}.lock`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = await createDraft(draft);
    let isOwn = true; // after the rename, it can be that of another process
    const removeDraft = undoAtEnd(() => {
      if (isOwn) rmSync(draft, { force: true });
    });
    try {
      const { byName } = fillDraft(file, path, change);
      if (byName.size === 0) return rmSync(path, { force: true });
      renameSync(draft, path);
      isOwn = false;
    } finally {
      removeDraft();
    }
  } catch (error) {
    const { syscall, message } = error as NodeJS.ErrnoException;
    throw syscall === undefined ? error : new UserError(`Cannot write ${path}: ${message}`);
  }
}

/** Writes the changed profiles to the file, and closes it. */
function fillDraft(file: number, path: string, change: (profiles: Profiles) => void): Profiles {
  try {
    const profiles = readProfiles(path);
    change(profiles);
    writeFileSync(file, printProfiles(profiles));
    fsyncSync(file);
    return profiles;
  } finally {
    closeSync(file);
  }
}

/** Creates the file for its owner only. If another process has created it, waits up to 2 s until it is gone. */
async function createDraft(draft: string): Promise<number> {
  for (let retries = 0; ; retries++) {
    try {
      return openSync(draft, 'wx', 0o600);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (retries === LOCK_RETRIES) {
        throw new UserError(`Another command is changing the profiles. If none is running, delete ${draft}`);
      }
      await sleep(LOCK_RETRY_MS);
    }
  }
}

/** Returns the text of the file, or undefined if it does not exist. */
function readPrivateFile(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, 'r');
    if (IS_POSIX && (fstatSync(file).mode & 0o077) !== 0) {
      throw new UserError(
        `Other users of this machine can read the tokens in ${path}. Run: chmod 600 ${toShellWord(path)}`,
      );
    }
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code, syscall, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw syscall === undefined ? error : new UserError(`Cannot read ${path}: ${message}`);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function printProfiles({ current, byName }: Profiles): string {
  return `${JSON.stringify({ current, profiles: Object.fromEntries(byName) }, null, 2)}\n`;
}

/** Returns undefined if the text is not the content of a file of profiles. */
function parseProfiles(text: string): Profiles | undefined {
  try {
    const { current, profiles } = JSON.parse(text);
    const byName = new Map(Object.entries(profiles as Record<string, Profile>));
    for (const [name, { url, token, tokenId }] of byName) {
      const isRight = isServerUrl(url) && isHeaderToken(token) && typeof (tokenId ?? '') === 'string';
      if (!isRight || readProfileName(name) !== name) return undefined;
    }
    return { current: typeof current === 'string' ? current : undefined, byName };
  } catch {
    return undefined;
  }
}

function isServerUrl(url: unknown): boolean {
  return typeof url === 'string' && /^https?:\/\//.test(url) && URL.canParse(url);
}

/** True if a header can contain the token. */
export function isHeaderToken(token: unknown): boolean {
  return typeof token === 'string' && /^[\x21-\x7e]+$/.test(token);
}
