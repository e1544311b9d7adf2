// What the network, TLS or Node reported when a server did not respond.

import type { PlantStoreError } from '../domain/errors.ts';
import { TransientError } from './response.ts';

/** What Node says of ports that fetch never connects to, such as 1 and 6000. */
export const BAD_PORT = 'bad port';

/** Returns the codes of the failure, such as ECONNREFUSED, if the server did not respond. Returns undefined if it did. */
export function networkCodesOf(error: PlantStoreError): string[] | undefined {
  if (!(error instanceof TransientError) || error.cause === undefined) return undefined;
  const {
    message,
    code,
    errors = [],
  } = ((error.cause as Error).cause ?? {}) as {
    message?: string;
    code?: string;
    errors?: { code?: string }[];
  };
  const codes = [message === BAD_PORT ? 'BAD_PORT' : code, ...errors.map((each) => each.code)];
  return codes.filter((each) => each !== undefined);
}
