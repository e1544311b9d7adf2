// The command config, which prints the settings that are in force, with their sources and meanings.

import { styleText } from 'node:util';
import type { EffectiveSetting } from '../config/effective-settings.ts';
import { SETTING_GROUPS } from '../config/settings.ts';
import { toSafeText } from '../lib/safe-text.ts';
import { UserError } from '../lib/user-error.ts';
import type { CommandContext, Output } from './command-io.ts';
import type { CliCommand } from './declare.ts';
import { findServer } from './remote.ts';
import { type FormOptions, printAll } from './terminal/report.ts';
import { widthOf } from './terminal/table.ts';
import { wrap } from './terminal/wrap.ts';

const MAX_WIDTH = 100;
const INDENT = '      ';

export function declareConfig(command: CliCommand): void {
  command
    .printsJsonOrTable('setting')
    .notes(`
The values are those of commands in this terminal, and of a server that they
start. A running server keeps the settings with which it was started. Secrets
are not shown. "plant-store settings" lists all variables with their defaults.`)
    .examples('plant-store config', 'plant-store config | jq -r \'select(.source == "environment") | .name\'')
    .runs(printConfig);
}

async function printConfig(context: CommandContext, options: FormOptions): Promise<void> {
  const { io, config } = context;
  const { listEffectiveSettings } = await import('../config/effective-settings.ts');
  const ofProfile = await valuesOfProfile(context);
  const settings = listEffectiveSettings(io.env, config).map((setting) => ({ ...setting, ...ofProfile[setting.name] }));
  const { stdout } = io;
  await printAll(stdout, options, settings, () => print(settings, config.traces !== undefined, stdout));
}

/** Returns the settings that a saved profile determines. */
async function valuesOfProfile(context: CommandContext): Promise<Record<string, Partial<EffectiveSetting>>> {
  const { config } = context;
  const { HIDDEN } = await import('../config/effective-settings.ts');
  try {
    const server = await findServer(context, {});
    const used = server?.credential?.source;
    if (server === undefined || used?.kind !== 'profile') return {};
    const { url } = server;
    const { name } = used;
    const source = `profile ${name}`;
    const isNamed = config.serverUrlFrom === 'PLANT_STORE_URL';
    const chosen = isNamed ? 'profile with this URL' : 'current profile';
    return {
      PLANT_STORE_URL: { value: url, ...(!isNamed && { source }) },
      PLANT_STORE_TOKEN: { value: HIDDEN, source },
      PLANT_STORE_PROFILE: { value: name, ...(config.clientProfile === undefined && { source: chosen }) },
    };
  } catch (error) {
    if (error instanceof UserError) return { PLANT_STORE_PROFILE: { source: error.message } };
    throw error;
  }
}

/** Returns the settings by group. Of the settings of traces, it has only the first one unless traces are on. */
function print(settings: EffectiveSetting[], withTraces: boolean, stream: Output): string {
  const width = Math.min(widthOf(stream), MAX_WIDTH);
  const groups = Object.entries(SETTING_GROUPS).map(([group, heading]) => {
    const all = settings.filter((setting) => setting.group === group);
    const shown = group === 'traces' && !withTraces ? all.slice(0, 1) : all;
    const texts = shown.map((setting) => printSetting(setting, width, stream));
    return `\n${styleText('bold', heading, { stream })}\n${texts.join('')}`;
  });
  return groups.join('');
}

function printSetting({ name, value, source, meaning }: EffectiveSetting, width: number, stream: Output): string {
  const isChosen = source !== 'default' && source !== 'not set';
  const shown = value === undefined ? '' : ` = ${toSafeText(value)}`;
  const first = `  ${styleText(isChosen ? ['bold', 'green'] : 'bold', name, { stream })}${shown}`;
  const lines = wrap(meaning, width - INDENT.length);
  const explained = lines.map((line) => styleText('dim', `${INDENT}${line}`, { stream }));
  return `${first}  ${styleText(isChosen ? 'green' : 'dim', `(${source})`, { stream })}\n${explained.join('\n')}\n`;
}
