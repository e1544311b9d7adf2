// Shows URLs without secrets.

/** Returns a URL that is safe to show: without user, password and query. */
export function describeUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}

/** Like `describeUrl`, without the final slash of a base path. */
export function showUrl(url: string): string {
  return describeUrl(url).replace(/\/$/, '');
}
