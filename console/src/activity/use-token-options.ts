// The tokens to filter by: all tokens for an admin, otherwise the ones whose changes were seen.

import type { Change } from 'plant-store/client';
import { useRef } from 'preact/hooks';
import { useTokenNames, useTokens } from '../session/queries.ts';
import { useWorkspace } from '../session/workspace.ts';
import type { TokenOption } from './filter-bar.tsx';

export function useTokenOptions(changes: Change[] | undefined, chosen: string): TokenOption[] {
  const { self } = useWorkspace();
  const tokenName = useTokenNames();
  const { data: tokens } = useTokens();
  const seen = useRef(new Map([[self.id, self.name]]));
  for (const { id, name } of tokens ?? []) seen.current.set(id, name);
  for (const change of changes ?? []) {
    if (!seen.current.has(change.token)) seen.current.set(change.token, tokenName(change));
  }
  if (chosen && !seen.current.has(chosen)) seen.current.set(chosen, tokenName({ token: chosen }));
  return [...seen.current].map(([id, name]) => ({ id, name })).sort((a, b) => a.name.localeCompare(b.name));
}
