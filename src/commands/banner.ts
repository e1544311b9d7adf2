// What a person sees at the start on a terminal: where it is, what it uses, and a line to paste.

export interface BannerFacts {
  version: string;
  url: string;
  database: string;
  /** Only at the first start: it cannot be shown again. */
  firstSecret?: string | undefined;
}

export function banner({ version, url, database, firstSecret }: BannerFacts): string {
  const token = firstSecret ?? '$TOKEN';
  const tokenLine = firstSecret
    ? `Token      ${firstSecret}\n             every scope; shown only now, so keep it`
    : 'Token      as made before; another: npm run --silent plant-store -- token create --name NAME';
  return `
  Plant Store ${version}

  Address    ${url}
  Database   ${database}
  ${tokenLine}

  Store a plant:

  curl ${url}/plants -H "Authorization: Bearer ${token}" -H "Content-Type: application/json" -d '{"id":1,"name":"Monstera deliciosa","tag":"tropical"}'

  Ctrl-C stops it.

`;
}
