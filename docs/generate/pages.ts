// Lists the generated pages of docs/reference.

import { renderCli } from './cli.ts';
import { renderConfiguration } from './configuration.ts';
import { renderErrors } from './errors.ts';
import { renderLimits } from './limits.ts';

/** Returns the text of each page by its file name. */
export async function renderAll(): Promise<Record<string, string>> {
  return {
    'errors.md': renderErrors(),
    'configuration.md': renderConfiguration(),
    'cli.md': await renderCli(),
    'limits.md': renderLimits(),
  };
}
