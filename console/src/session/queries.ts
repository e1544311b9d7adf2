// The queries that several views share, and how they stay current. TanStack Query keeps the responses.

import {
  MutationCache,
  QueryCache,
  QueryClient,
  type QueryKey,
  useQuery,
  useQueryClient,
} from '@tanstack/preact-query';
import type { Change, DescribedToken, ServiceStatus, Summary, Webhook } from 'plant-store/client';
import { useCallback, useEffect, useMemo, useRef } from 'preact/hooks';
import { useLive, useWorkspace } from './workspace.ts';

const STATUS_MS = 15_000;
/** Longer than the server keeps a summary, so that the next one includes the change. */
const SUMMARY_MS = 5500;

/** Returns the cache of one session. The client itself retries, so the cache does not. */
export function createQueries(onError: (error: unknown) => void): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError }),
    mutationCache: new MutationCache({ onError }),
    defaultOptions: {
      queries: { retry: false, networkMode: 'always', refetchOnWindowFocus: false, gcTime: 60_000 },
      mutations: { retry: false, networkMode: 'always' },
    },
  });
}

/** Loads the query again. A first response that is on its way may be older than the change, so it is aborted. */
export async function reloadQuery(queries: QueryClient, queryKey: QueryKey): Promise<void> {
  await queries.cancelQueries({ queryKey });
  await queries.invalidateQueries({ queryKey });
}

/** Marks the query as old after changes of the store, at most once in `everyMs`, so that it loads again. */
export function useRefreshOnChange(queryKey: QueryKey, everyMs: number): void {
  const queries = useQueryClient();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useLive(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      void queries.invalidateQueries({ queryKey });
    }, everyMs);
  });
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      timer.current = undefined;
    },
    [],
  );
}

/** The counts of plants, tags and changes. The server's counts can be a few seconds old. */
export function useSummary(): Summary | undefined {
  return useSummaryQuery().data;
}

export function useSummaryQuery() {
  const { client, can } = useWorkspace();
  useRefreshOnChange(['summary'], SUMMARY_MS);
  return useQuery<Summary>({
    queryKey: ['summary'],
    queryFn: ({ signal }) => client.summary({ signal }),
    enabled: can('plants:read'),
    staleTime: SUMMARY_MS,
  });
}

/** The status of the service. Undefined for tokens without the scope `admin`. */
export function useStatus(): ServiceStatus | undefined {
  return useStatusQuery().data;
}

export function useStatusQuery() {
  const { client, can } = useWorkspace();
  return useQuery<ServiceStatus>({
    queryKey: ['status'],
    queryFn: ({ signal }) => client.status({ signal }),
    enabled: can('admin'),
    refetchInterval: STATUS_MS,
  });
}

export function useTokens() {
  const { client, can } = useWorkspace();
  return useQuery<DescribedToken[]>({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => client.tokens.list({ signal }),
    enabled: can('admin'),
    refetchInterval: STATUS_MS,
  });
}

/** `everyMs` is for views that must be more current than the navigation. */
export function useWebhooks(everyMs = STATUS_MS) {
  const { client, can } = useWorkspace();
  return useQuery<Webhook[]>({
    queryKey: ['webhooks'],
    queryFn: ({ signal }) => client.webhooks.list({ signal }),
    enabled: can('admin'),
    refetchInterval: everyMs,
  });
}

/** Returns a function that names who made a change. The stream of changes has only the id of the token. */
export function useTokenNames(): (change: Pick<Change, 'token' | 'tokenName'>) => string {
  const { self } = useWorkspace();
  const { data } = useTokens();
  const names = useMemo(() => new Map(data?.map(({ id, name }) => [id, name])), [data]);
  return useCallback(
    ({ token, tokenName }) => {
      if (token === 'cli') return 'command line';
      const name = tokenName ?? names.get(token) ?? (token === self.id ? self.name : undefined);
      // Only admins can list tokens. A JWT is not listed, but its id names the subject.
      return name ?? (token.startsWith('tok_') ? 'another token' : token);
    },
    [names, self],
  );
}
