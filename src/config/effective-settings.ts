// Lists every setting with the value that is in force, and its source.

import { resolve } from 'node:path';
import { describeUrl } from '../lib/describe-url.ts';
import { type Config, describeDatabase } from './config.ts';
import { listSettings, type Setting } from './settings.ts';

export interface EffectiveSetting {
  name: string;
  /** Value in force, without secrets. Undefined if the setting has none. */
  value: string | undefined;
  source: 'environment' | 'default' | 'not set';
  meaning: string;
  group: Setting['group'];
}

/** Returns the settings in the order of the table. The config was read from the same environment. */
export function listEffectiveSettings(env: Record<string, string | undefined>, config: Config): EffectiveSetting[] {
  return listSettings().flatMap(({ name, tracesOnly, group, meaning, ...setting }) => {
    const names = tracesOnly !== undefined && env[tracesOnly] ? [name, tracesOnly] : [name];
    return names.map((each): EffectiveSetting => {
      const given = env[each] || undefined;
      const value = shownValue(each, given, config) ?? setting.default ?? setting.defaultText?.replaceAll('`', '');
      const source = given !== undefined ? 'environment' : value !== undefined ? 'default' : 'not set';
      return { name: each, value, source, meaning: meaning.replaceAll('`', ''), group };
    });
  });
}

/** Returns the value in force if it differs from the variable, or the variable without its secret parts. */
function shownValue(name: string, given: string | undefined, { database, serverUrl }: Config): string | undefined {
  if (name === 'DATABASE_URL') {
    return database.kind === 'sqlite' ? `sqlite:${resolve(database.path)}` : describeDatabase(database);
  }
  if (name === 'PLANT_STORE_URL') return serverUrl && describeUrl(serverUrl);
  if (given === undefined) return undefined;
  if (name === 'PLANT_STORE_TOKEN') return '(set, not shown)';
  if (name.endsWith('_HEADERS')) return given.replace(/=[^,]*/g, '=…');
  return /^https?:/.test(given) && URL.canParse(given) ? describeUrl(given) : given;
}
