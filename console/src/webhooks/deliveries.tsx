// The deliveries of a webhook, newest first, page by page.

import { type InfiniteData, useInfiniteQuery } from '@tanstack/preact-query';
import type { Delivery, Webhook } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { errorText } from '../session/error-text.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Segments } from '../shared/field.tsx';
import { Late } from '../shared/late.tsx';
import { number } from '../shared/numbers.ts';
import { DeliveryRow } from './delivery-row.tsx';
import { MOST, type Progress, REFRESH_MS } from './use-progress.ts';

type Filter = 'all' | Delivery['status'];

const PAGE = 50;
/** With more pages than this, the list is only read again after changes. */
const PAGES_TO_REFRESH = 3;

const EMPTY: Record<Filter, string> = {
  all: 'No delivery yet. Deliveries appear here after the next change.',
  waiting: 'No delivery is waiting.',
  delivered: 'No delivery has succeeded yet.',
  dead: 'No delivery was given up.',
};

export function Deliveries({ webhook, progress }: { webhook: Webhook; progress: Progress | undefined }) {
  const [filter, setFilter] = useState<Filter>('all');
  const [opened, setOpened] = useState<number>();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(webhook.id, filter);
  const deliveries = data?.pages.flat() ?? [];
  return (
    <>
      <div class="dv-head">
        <h3>Deliveries</h3>
        <Segments<Filter> label="Status" class="s" value={filter} options={optionsOf(progress)} onChange={setFilter} />
      </div>
      {error && (
        <div class="callout bad" role="alert">
          <span class="grow">{errorText(error)}</span>
          <button type="button" class="btn s" onClick={() => void refetch()}>
            Try again
          </button>
        </div>
      )}
      {!data && !error && (
        <Late>
          <p class="sub">Loading deliveries…</p>
        </Late>
      )}
      {data && deliveries.length === 0 && <p class="dv-none">{EMPTY[filter]}</p>}
      {deliveries.length > 0 && (
        <ul class="dvs" aria-label="Deliveries">
          {deliveries.map((delivery) => (
            <DeliveryRow
              key={delivery.seq}
              webhook={webhook}
              delivery={delivery}
              isOpen={delivery.seq === opened}
              onToggle={() => setOpened(delivery.seq === opened ? undefined : delivery.seq)}
            />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <button type="button" class="btn dv-next" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load more
        </button>
      )}
    </>
  );
}

function usePages(id: string, filter: Filter) {
  const { client } = useWorkspace();
  return useInfiniteQuery<Delivery[], Error, InfiniteData<Delivery[]>, string[], number | undefined>({
    queryKey: ['deliveries', id, 'pages', filter],
    queryFn: ({ pageParam: before, signal }) =>
      client.webhooks.deliveries(
        id,
        { limit: PAGE, before, status: filter === 'all' ? undefined : filter },
        { signal },
      ),
    initialPageParam: undefined,
    getNextPageParam: (page) => (page.length < PAGE ? undefined : page.at(-1)?.seq),
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > PAGES_TO_REFRESH ? false : REFRESH_MS),
  });
}

function optionsOf(progress: Progress | undefined) {
  const counted = (text: string, some: Delivery[] | undefined) =>
    some && some.length > 0 ? (
      <>
        {text} <span class="seg-n">{some.length >= MOST ? `${number(MOST)}+` : number(some.length)}</span>
      </>
    ) : (
      text
    );
  return [
    { value: 'all' as const, content: 'All' },
    { value: 'waiting' as const, content: counted('Waiting', progress?.waiting) },
    { value: 'delivered' as const, content: 'Delivered' },
    { value: 'dead' as const, content: counted('Given up', progress?.dead) },
  ];
}
