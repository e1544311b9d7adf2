// Limits the memory for responses that their clients have not read yet: of a token and of all, and of an address.

import { unavailable } from '../../domain/errors.ts';
import type { SharedNumbers } from '../../lib/shared-numbers.ts';
import { connectionOf } from '../core/connection.ts';
import type { CountUnread } from '../core/send-reply.ts';
import { FairShare, overShare, shareOf } from './fair-share.ts';

/** Maximum size of the unread responses to all tokens, and of those without a token. */
export const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

/** Returns the function that counts unread bytes. It throws `over_share` or `unavailable`. */
export function createUnreadCount(counts: SharedNumbers): CountUnread {
  const ofTokens = new FairShare(counts, MAX_UNREAD_BYTES, 'unread bytes');
  const ofAddresses = new FairShare(counts, MAX_UNREAD_BYTES, 'unread bytes without a token');

  return ({ req }, bytes, token) => {
    // Responses without a token are parts of the same memory, of which only TLS makes a copy for each.
    if (!token && !('encrypted' in req.socket)) return () => {};
    const unread = token ? ofTokens : ofAddresses;
    const holder = token ? token.id : connectionOf(req.socket).network;
    const exceeded = unread.add(holder, bytes);
    const free = () => void unread.add(holder, -bytes);
    if (!exceeded) return free;
    free();
    const mib = (exceeded === 'share' ? shareOf(MAX_UNREAD_BYTES) : MAX_UNREAD_BYTES) / 1024 ** 2;
    const whose = exceeded === 'all' ? '' : `of the same ${token ? 'token' : 'address'} `;
    const message = `Clients ${whose}have not read ${mib} MiB of responses.`;
    if (req.method !== 'GET') throw unavailable(`${message} The request may have been carried out.`);
    throw token && exceeded === 'share' ? overShare(`${message} Retry later.`) : unavailable(`${message} Retry later.`);
  };
}
