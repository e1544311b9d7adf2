// The words for an error. Names of fields and of browser functions mean nothing to a user.

import { PlantStoreError } from 'plant-store/client';

const UNREACHABLE = 'The server does not respond. Check your connection and try again.';

const TOO_LONG = 'This is longer than the server accepts. Shorten it and try again.';
/** The client's message for an error that the server did not write. */
const FROM_PROXY = /^The server returned status (\d+) without an Error body$/;

/** Labels of the API's fields. Screens can pass others. */
const LABELS: Record<string, string> = {
  id: 'The id',
  name: 'The name',
  tag: 'The tag',
  url: 'The address',
  events: 'The list of changes',
  expires: 'The expiry',
  rate: 'The rate',
  scopes: 'The list of scopes',
  from: 'The first change',
  to: 'The last change',
  grace: 'The time for the old secret',
};

export function errorText(error: unknown): string {
  if (isResponseLost(error)) return UNREACHABLE;
  if (!(error instanceof PlantStoreError)) return (error as Error).message;
  if (error.code === 'body_too_large') return TOO_LONG;
  const status = FROM_PROXY.exec(error.message)?.[1];
  if (status) return `Something between this page and the server failed (status ${status}). Try again in a minute.`;
  return error.message.replace(/"([a-z]+)"(?= (?:is|must|has|cannot))/g, (quoted, field) => LABELS[field] ?? quoted);
}

/** True if no response arrived. The server may still have done what was asked. */
export function isResponseLost(error: unknown): boolean {
  if (!(error instanceof PlantStoreError)) return error instanceof TypeError;
  return error.code === 'unavailable' && !isFromServer(error);
}

/** Returns the name of the API's field that the error is about. Undefined if it is about none or about several. */
export function fieldOf(error: unknown): string | undefined {
  return error instanceof PlantStoreError ? /^"([a-z]+)[^"]*"/.exec(error.message)?.[1] : undefined;
}

/** True if the server sent the error. The client writes its own message when no response arrived. */
function isFromServer(error: PlantStoreError): boolean {
  return error.cause === undefined;
}
