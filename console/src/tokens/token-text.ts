// The words for the properties of a token.

import { type DescribedToken, PlantStoreError, type Scope } from 'plant-store/client';
import { isResponseLost } from '../session/error-text.ts';
import { number } from '../shared/numbers.ts';

export const PERIODS = { s: 'second', m: 'minute', h: 'hour' } as const;
export type Period = keyof typeof PERIODS;

/** Returns the count and the period of a rate such as `100/s`. */
export function splitRate(rate: string): { count: string; period: Period } {
  const [count = '', period = 's'] = rate.split('/');
  return { count, period: period as Period };
}

/** Returns "100 per second" for `100/s`. */
export function rateText(rate: string | undefined): string {
  if (rate === undefined) return 'No limit';
  const { count, period } = splitRate(rate);
  return `${number(Number(count))} per ${PERIODS[period]}`;
}

/** True if the server lets this user change the token: it must have no scope that the user lacks. */
export function isManageable({ status, scopes }: DescribedToken, can: (scope: Scope) => boolean): boolean {
  return status === 'active' && scopes.every(can);
}

/** Returns the explanation of an error that names the token by its id, or after which the user cannot simply retry. */
export function explainLastAdmin(error: unknown): string | undefined {
  if (!(error instanceof PlantStoreError) || error.code !== 'last_admin') return undefined;
  return 'This is the last token with the scope admin. Without it, nobody could manage tokens. Create another admin token first.';
}

export function explainLostSecret(error: unknown): string | undefined {
  if (!isResponseLost(error)) return undefined;
  return 'No response arrived. Look at the list before you try again: if the server did it, the secret is lost, and only rotating gives another.';
}
