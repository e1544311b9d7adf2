// The command settings, which prints the table of environment variables. config.ts reads them.

import { listSettings, SETTING_GROUPS, type Setting } from '../config/settings.ts';
import { docsPage } from '../lib/docs-page.ts';
import type { CliCommand } from './declare.ts';
import { wrap } from './terminal/wrap.ts';

const WIDTH = 80;
const INDENT = '      ';
const MORE_TRACES = `The other OTEL_* variables are listed in\n${INDENT}${docsPage('reference/configuration.md')}`;

export function declareSettings(command: CliCommand): void {
  command
    .notes(describeSettings())
    .examples('plant-store settings', 'PORT=8080 LOG_LEVEL=warn plant-store serve')
    .action(() => command.outputHelp());
}

/** Returns all settings by group. Of the OpenTelemetry variables, it has only the one that turns traces on. */
function describeSettings(): string {
  const groups = Object.entries(SETTING_GROUPS).map(([group, heading]) => {
    const settings = listSettings().filter((setting) => setting.group === group);
    if (group !== 'traces') return `\n${heading}:\n${settings.map(describeSetting).join('')}`;
    return `\n${heading}:\n${settings.slice(0, 1).map(describeSetting).join('')}${INDENT}${MORE_TRACES}\n`;
  });
  return groups.join('').trimEnd();
}

function describeSetting({ name, ...setting }: { name: string } & Setting): string {
  const value = setting.default ?? setting.defaultText;
  const text = value === undefined ? setting.meaning : `${setting.meaning} Default: ${value}.`;
  const lines = wrap(text.replaceAll('`', ''), WIDTH - INDENT.length);
  return `  ${name}\n${lines.map((line) => `${INDENT}${line}\n`).join('')}`;
}
