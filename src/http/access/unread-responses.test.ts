import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import type { Token } from '../../domain/token.ts';
import { createSharedLimits, memoryOf } from './shared-limits.ts';
import { createUnreadCount, MAX_UNREAD_BYTES } from './unread-responses.ts';

const SHARE = MAX_UNREAD_BYTES / 4;
const limits = createSharedLimits();
const countUnread = createUnreadCount(limits.counts);
const tokens = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }) as Token) as [Token, Token, Token, Token, Token];

interface Faked {
  method?: string;
  isTls?: boolean;
  remoteAddress?: string;
}

function respond({ method = 'GET', isTls = false, remoteAddress = '10.9.8.7' }: Faked = {}): ServerResponse {
  return { req: { method, socket: { remoteAddress, ...(isTls && { encrypted: true }) } } } as never;
}

test('a token has a quarter of the memory, in all threads, until its responses are sent', () => {
  const other = createUnreadCount(createSharedLimits(memoryOf(limits)).counts);
  const isRead = countUnread(respond(), SHARE - 10, tokens[0]);
  other(respond(), 10, tokens[0]);
  assert.throws(() => other(respond(), 5000, tokens[0]), { code: 'over_share' });
  assert.throws(() => countUnread(respond({ method: 'PUT' }), 5000, tokens[0]), {
    code: 'unavailable',
    message: /The request may have been carried out\.$/,
  });
  countUnread(respond(), SHARE, tokens[1]);
  isRead();
  countUnread(respond(), SHARE - 10, tokens[0]);
});

test('all tokens together have a limit', () => {
  countUnread(respond(), SHARE, tokens[2]);
  countUnread(respond(), SHARE, tokens[3]);
  assert.throws(() => countUnread(respond(), 5000, tokens[4]), { code: 'unavailable' });
});

test('without a token, only TLS counts, for each address', () => {
  for (let n = 0; n < 10; n++) countUnread(respond(), SHARE, undefined);
  countUnread(respond({ isTls: true }), SHARE, undefined);
  assert.throws(() => countUnread(respond({ isTls: true }), 5000, undefined), { code: 'unavailable' });
  countUnread(respond({ isTls: true, remoteAddress: '10.9.8.8' }), SHARE, undefined);
});
