// Ends long requests, such as event streams, when their credential expires, is revoked or loses a required scope.

import { PlantStoreError } from '../../domain/errors.ts';
import type { Scope } from '../../domain/names.ts';
import { BadCredential, requireScopes, type Token } from '../../domain/token.ts';
import type { HttpReply, HttpRequest } from '../core/request-reply.ts';
import type { Authenticator } from './authenticator.ts';

/** Interval of the checks. Together with the cache time of a token, it keeps the delay of a revocation below 1 s. */
const CHECK_MS = 250;

export const DISCONNECTED = new PlantStoreError('malformed_request', 'The client has disconnected');

/** Returns a signal that aborts with `bad_token` or `scope_missing` when the credential no longer permits the request. */
export type RevocationWatch = (request: HttpRequest, reply: HttpReply, scopes: readonly Scope[]) => AbortSignal;

/** A request in progress. */
interface WatchedRequest {
  scopes: readonly Scope[];
  end(fault: PlantStoreError): void;
}

/** The requests that share one credential. */
interface Watched {
  authorization: string;
  requests: Set<WatchedRequest>;
  /** True while a check of the credential is in progress. */
  isChecking: boolean;
}

export function createRevocationWatch({ recheck }: Authenticator): RevocationWatch {
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;

  return ({ headers: { authorization = '' } }, reply, scopes) => {
    if (reply.raw.closed) return AbortSignal.abort(DISCONNECTED); // during the lookup
    const ended = new AbortController();
    const own = watched.get(authorization) ?? { authorization, requests: new Set(), isChecking: false };
    const request: WatchedRequest = {
      scopes,
      end(fault) {
        forget(own, request);
        ended.abort(fault);
      },
    };
    own.requests.add(request);
    watched.set(authorization, own);
    timer ??= setInterval(checkAll, CHECK_MS).unref();
    reply.raw.once('close', () => forget(own, request));
    return ended.signal;
  };

  function forget(own: Watched, request: WatchedRequest): void {
    own.requests.delete(request);
    if (own.requests.size === 0 && watched.get(own.authorization) === own) watched.delete(own.authorization);
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /**
   * Checks all credentials together, so that the database can batch the lookups. Skips those with a check in progress.
   */
  function checkAll(): void {
    for (const own of watched.values()) if (!own.isChecking) void checkOne(own);
  }

  async function checkOne(own: Watched): Promise<void> {
    own.isChecking = true;
    const found = await recheck(own.authorization);
    own.isChecking = false;
    if (!found) return;
    for (const { scopes, end } of own.requests) {
      const fault = found instanceof BadCredential ? found : findMissingScope(found, scopes);
      if (fault) end(fault);
    }
  }
}

function findMissingScope(token: Token, scopes: readonly Scope[]): PlantStoreError | undefined {
  try {
    requireScopes(token, scopes);
    return undefined;
  } catch (error) {
    return error as PlantStoreError;
  }
}
