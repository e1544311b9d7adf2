// Renders docs/reference/configuration.md from the table of settings.

import { listSettings, SETTING_GROUPS, type Setting } from '../../src/config/settings.ts';
import { toCode, toPage, toTable } from './markdown.ts';

const INTRODUCTION = `Plant Store reads all settings from environment variables: \`PORT=8080 plant-store serve\` changes the port. An empty variable counts as not set. If a value is invalid,
the command prints one line on standard error and ends with exit status 2, before it opens anything. \`plant-store settings\`
prints the same list.`;

const TRACES_NOTE = `The server validates these variables only while traces are on. The \`OTEL_EXPORTER_OTLP_TRACES_*\` variables apply to
traces only and take precedence over \`OTEL_EXPORTER_OTLP_*\`. While traces are off, the server loads no OpenTelemetry code.

As the [OpenTelemetry specification](https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/) requires, an unknown name or an
invalid number does not stop the server. It logs one warning for each such value at start and ignores the value. Only an invalid endpoint, header or
file ends the command with exit status 2.`;

/** Variables of Node.js and the terminal, which Plant Store does not define. */
const OTHERS = [
  ['`NODE_EXTRA_CA_CERTS`', 'PEM file with additional CA certificates that commands and the server trust.'],
  ['`NODE_COMPILE_CACHE`', 'Folder of the compile cache. The default is a folder that only this user can write.'],
  ['`UV_THREADPOOL_SIZE`', 'Number of threads for files and DNS lookups. Plant Store sets it to 32 if it is not set.'],
  ['`NO_COLOR`, `TERM=dumb`', 'Turn colours off in the output of commands.'],
];

export function renderConfiguration(): string {
  const groups = Object.entries(SETTING_GROUPS).map(([group, heading]) => {
    const rows = listSettings()
      .filter((setting) => setting.group === group)
      .map(toRow);
    const table = toTable(['variable', 'default', 'meaning', 'example'], rows);
    return `## ${heading}\n\n${group === 'traces' ? `${TRACES_NOTE}\n\n` : ''}${table}`;
  });
  return toPage('Configuration', INTRODUCTION, [
    ...groups,
    '## Node.js and the terminal',
    toTable(['variable', 'meaning'], OTHERS),
  ]);
}

function toRow({ name, tracesOnly, ...setting }: { name: string } & Setting): string[] {
  const names = [name, ...(tracesOnly ? [tracesOnly] : [])].map(toCode).join(', ');
  const value = setting.default === undefined ? (setting.defaultText ?? 'none') : toCode(setting.default);
  return [names, value, setting.meaning, toCode(setting.example)];
}
