// What a person sees at the start on a terminal: where it is, what it uses, and a line to paste.

import { OWN_COMMAND } from '../config/command-name.ts';
import { toSafeLines } from '../lib/safe-text.ts';

export interface BannerFacts {
  version: string;
  url: string;
  database: string;
  /** Only at the first start: it cannot be shown again. */
  firstSecret?: string | undefined;
}

export function banner({ version, url, database, firstSecret }: BannerFacts): string {
  const tokenLine = firstSecret
    ? `\n  Token      ${firstSecret}\n             every scope; shown only now, so keep it`
    : '';
  const makeToken = firstSecret ? '' : `\n  TOKEN=$(${OWN_COMMAND} token create --name me)`;
  return toSafeLines(`
  Plant Store ${version}

  Address    ${url}
  Console    ${url}/
  Docs       ${url}/docs
  Database   ${database}${tokenLine}

  Store a plant:
${makeToken}
  curl "${url}/plants" -H "Authorization: Bearer ${firstSecret ?? '$TOKEN'}" -H "Content-Type: application/json" -d '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}'

  Ctrl-C stops it.

`);
}
