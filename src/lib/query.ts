// Prints the query of a URL.

type QueryValue = string | number | boolean | undefined;

/** Returns a query string of the parameters that are defined, or an empty string. */
export function toQuery(parameters: Record<string, QueryValue | readonly QueryValue[]>): string {
  const query = new URLSearchParams();
  for (const [name, given] of Object.entries(parameters)) {
    for (const value of [given].flat()) if (value !== undefined) query.append(name, String(value));
  }
  return query.toString() && `?${query}`;
}
