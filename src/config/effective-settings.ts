// Lists every setting with the value that is in force, and its source.

import { resolve } from 'node:path';
import { describeUrl, showUrl } from '../lib/describe-url.ts';
import { type Config, describeDatabase } from './config.ts';
import { listSettings, type Setting } from './settings.ts';

/** Value that is shown for a secret. */
export const HIDDEN = '(set, not shown)';

export interface EffectiveSetting {
  name: string;
  /** Value in force, without secrets. Undefined if the setting has none. */
  value: string | undefined;
  /** Origin of the value: `environment`, `default`, `not set`, or the saved profile. */
  source: string;
  meaning: string;
  group: Setting['group'];
}

/** Returns the settings in the order of the table. The config was read from the same environment. */
export function listEffectiveSettings(env: Record<string, string | undefined>, config: Config): EffectiveSetting[] {
  return listSettings().flatMap(({ name, tracesOnly, group, meaning, ...setting }) => {
    const names = tracesOnly !== undefined && env[tracesOnly] ? [name, tracesOnly] : [name];
    return names.map((each): EffectiveSetting => {
      const given = env[each] || undefined;
      const value = shownValue(each, given, config) ?? defaultValue(name, { group, ...setting }, config);
      const isSet = given !== undefined || (each === 'PLANT_STORE_URL' && config.serverUrlFrom !== 'defaults');
      const source = isSet ? 'environment' : value !== undefined ? 'default' : 'not set';
      return { name: each, value, source, meaning: meaning.replaceAll('`', ''), group };
    });
  });
}

/** Returns the value in force if it differs from the variable, or the variable without its secret parts. */
function shownValue(name: string, given: string | undefined, { database, serverUrl }: Config): string | undefined {
  if (name === 'DATABASE_URL') {
    return database.kind === 'sqlite' ? `sqlite:${resolve(database.path)}` : describeDatabase(database);
  }
  if (name === 'PLANT_STORE_URL') return serverUrl && showUrl(serverUrl);
  if (given === undefined) return undefined;
  if (name === 'PLANT_STORE_TOKEN' || name.endsWith('_HEADERS')) return HIDDEN;
  return /^https?:/i.test(given) && URL.canParse(given) ? describeUrl(given) : given;
}

/** Returns the value in force if the variable is not set. */
function defaultValue(name: string, setting: Pick<Setting, 'group' | 'default' | 'defaultText'>, config: Config) {
  if (name === 'OTEL_TRACES_EXPORTER') return config.traces?.exporters.join(',') ?? 'none';
  const isUnused = setting.group === 'commands' || (setting.group === 'jwt' && config.jwt === undefined);
  return isUnused ? undefined : (setting.default ?? setting.defaultText);
}
