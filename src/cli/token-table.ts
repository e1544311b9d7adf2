// Defines the columns of the table that token list prints.

import { SCOPES, type Scope } from '../domain/names.ts';
import type { DescribedToken } from '../domain/token.ts';
import { type Column, colourOfStatus } from './terminal/table.ts';
import { dayOf, timeToMinute } from './terminal/time.ts';

export const TOKEN_COLUMNS: Column<DescribedToken>[] = [
  { heading: 'ID', cell: ({ id }) => id },
  { heading: 'NAME', cell: ({ name }) => name, minWidth: 16 },
  {
    heading: 'SCOPES',
    cell: ({ scopes }) => scopes.join(','),
    short: ({ scopes }) => toShortScopes(scopes),
    ifRoom: 1,
  },
  { heading: 'RATE', cell: ({ rate }) => rate, ifRoom: 4 },
  {
    heading: 'CREATED',
    cell: ({ created }) => timeToMinute(created),
    short: ({ created }) => dayOf(created),
    ifRoom: 5,
  },
  {
    heading: 'LAST USED',
    cell: ({ lastUsed }) => timeToMinute(lastUsed) ?? 'never',
    short: ({ lastUsed }) => dayOf(lastUsed) ?? 'never',
    ifRoom: 3,
  },
  {
    heading: 'EXPIRES',
    cell: ({ expires }) => timeToMinute(expires) ?? 'never',
    short: ({ expires }) => dayOf(expires) ?? 'never',
    ifRoom: 2,
  },
  { heading: 'STATUS', cell: ({ status }) => status, colour: colourOfStatus },
];

/** Returns scopes without the prefix that all scopes of plants have. */
function toShortScopes(scopes: Scope[]): string {
  return scopes.length === SCOPES.length ? 'all' : scopes.join(',').replaceAll('plants:', '');
}
