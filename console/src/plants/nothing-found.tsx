// What the list shows if no plant matches: what would find something, with the number of plants it finds.

import { useQuery } from '@tanstack/preact-query';
import type { Filter, PlantStoreClient } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { count, number } from '../shared/numbers.ts';
import { nameOf, TagDot, tagText } from '../shared/plant-text.tsx';
import { openView } from '../view.ts';
import { toId } from './plant-query.ts';
import { readStored } from './save-plant.ts';
import { shorterSearches } from './shorter-searches.ts';

interface Props {
  q: string;
  tags: string[];
  isUntagged: boolean;
  /** Number of plants in the store. */
  total: number;
  canAdd: boolean;
  onSearch(q: string): void;
  /** Removes the search and the filter. */
  onClear(): void;
  onAdd(name: string): void;
  onOpen(id: bigint): void;
}

export function NothingFound(props: Props) {
  const { q, tags, isUntagged, total, canAdd, onSearch, onClear, onAdd, onOpen } = props;
  const search = q.trim();
  const hasTags = tags.length > 0 || isUntagged;
  const { withId, shorter, withoutFilter } = useWays(search, tags, isUntagged) ?? NO_WAYS;
  return (
    <div class="empty">
      <Icon name="search" class="empty-i" />
      <h2>
        No plants match{' '}
        {search === '' ? (
          'this filter'
        ) : (
          <>
            “<bdi>{search}</bdi>”
          </>
        )}
      </h2>
      {search !== '' && <p>Search compares the beginnings of words, so a letter too many finds nothing.</p>}
      <ul class="ways">
        {withId && (
          <Way action="Open it" onTake={() => onOpen(withId.id)}>
            Id <span class="mono">{String(withId.id)}</span> belongs to{' '}
            <b>
              <bdi>{nameOf(withId)}</bdi>
            </b>
          </Way>
        )}
        {shorter && (
          <Way
            found={shorter}
            action={
              <>
                Search “<bdi>{shorter.q}</bdi>”
              </>
            }
            onTake={() => onSearch(shorter.q)}
          >
            Shorten it to{' '}
            <b>
              <bdi>{shorter.q}</bdi>
            </b>
          </Way>
        )}
        {withoutFilter && (
          <Way found={withoutFilter} action="Clear the filter" onTake={() => openView('plants', { q: search })}>
            Search without <Tags tags={tags} isUntagged={isUntagged} />
          </Way>
        )}
        <Way
          found={{ plants: total, isMore: false }}
          action={search !== '' && hasTags ? 'Clear both' : search !== '' ? 'Clear search' : 'Clear the filter'}
          onTake={onClear}
        >
          Clear {search !== '' && 'the search'}
          {search !== '' && hasTags && ' and '}
          {hasTags && <Tags tags={tags} isUntagged={isUntagged} />}
        </Way>
        {canAdd && search !== '' && (
          <Way
            action={
              <>
                Add “<bdi>{search}</bdi>”
              </>
            }
            onTake={() => onAdd(search)}
          >
            Store it as a new plant
          </Way>
        )}
      </ul>
    </div>
  );
}

const NO_WAYS: Awaited<ReturnType<typeof findWays>> = {
  withId: undefined,
  shorter: undefined,
  withoutFilter: undefined,
};

interface Found {
  plants: number;
  isMore: boolean;
}

function Way(props: { found?: Found; action: ComponentChildren; onTake(): void; children: ComponentChildren }) {
  const { found, action, onTake, children } = props;
  return (
    <li>
      <span>{children}</span>
      <span class="sub">{found && (found.isMore ? `over ${number(found.plants)}` : count(found.plants, 'plant'))}</span>
      <button type="button" class="btn s" onClick={onTake}>
        <span class="way-text">{action}</span>
      </button>
    </li>
  );
}

function Tags({ tags, isUntagged }: Pick<Props, 'tags' | 'isUntagged'>) {
  const all = [...tags, ...(isUntagged ? [undefined] : [])];
  return (
    <>
      {all.map((tag, at) => (
        <span key={tag ?? ''}>
          {at > 0 && ', '}
          <span class="way-tag">
            <TagDot of={tag} /> <b>{tag === undefined ? 'No tag' : <bdi>{tagText(tag)}</bdi>}</b>
          </span>
        </span>
      ))}
    </>
  );
}

/** Counts what other searches would find. */
function useWays(q: string, tags: string[], isUntagged: boolean) {
  const { client } = useWorkspace();
  const { data } = useQuery({
    queryKey: ['ways', q, tags, isUntagged],
    queryFn: ({ signal }) => findWays(client, q, { tag: tags, ...(isUntagged && { untagged: true }) }, signal),
    enabled: q !== '',
  });
  return data;
}

async function findWays(client: PlantStoreClient, q: string, filter: Filter, signal: AbortSignal) {
  const hasFilter = filter.untagged || (filter.tag?.length ?? 0) > 0;
  const id = toId(q);
  const [withId, all, ...shorter] = await Promise.all([
    id === undefined ? undefined : readStored(client, id),
    hasFilter ? client.count({ q }, { signal }) : undefined,
    ...shorterSearches(q).map(async (q) => ({ q, ...(await client.count({ ...filter, q }, { signal })) })),
  ]);
  return {
    withId: withId?.record,
    shorter: shorter.find((found) => found !== undefined && found.plants > 0),
    withoutFilter: all && all.plants > 0 ? all : undefined,
  };
}
