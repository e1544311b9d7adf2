// The history of a plant as a timeline of differences, newest first. An earlier version can be restored.

import { useInfiniteQuery } from '@tanstack/preact-query';
import type { Change, PlantStoreClient } from 'plant-store/client';
import { errorText } from '../session/error-text.ts';
import { useTokenNames } from '../session/queries.ts';
import { useWorkspace } from '../session/workspace.ts';
import { After, Before } from '../shared/diff.tsx';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { tagText } from '../shared/plant-text.tsx';
import { Time } from '../shared/time.tsx';
import type { Texts } from './merge.ts';

const PAGE = 20;

export function historyKey(id: bigint): string[] {
  return ['history', String(id)];
}

export function PlantHistory({ id, onRestore }: { id: bigint; onRestore: ((version: Change) => void) | undefined }) {
  const { client } = useWorkspace();
  const query = useInfiniteQuery({
    queryKey: historyKey(id),
    queryFn: ({ pageParam, signal }) => readPage(client, id, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const changes = query.data?.pages.flatMap((page) => page.changes) ?? [];
  return (
    <section class="sec" aria-label="History">
      <h3>History</h3>
      {query.error && <Problem text={errorText(query.error)} />}
      <ol class="steps">
        {changes.map((change, index) => (
          <Step
            key={change.seq}
            change={change}
            before={changes[index + 1]}
            isLast={index === changes.length - 1 && !query.hasNextPage}
            isCurrent={index === 0}
            onRestore={onRestore}
          />
        ))}
      </ol>
      {query.hasNextPage && (
        <button
          type="button"
          class="btn s"
          disabled={query.isFetchingNextPage}
          onClick={() => void query.fetchNextPage()}
        >
          Show older changes
        </button>
      )}
    </section>
  );
}

function readPage(client: PlantStoreClient, id: bigint, cursor: string, signal: AbortSignal) {
  return client.history(id, { limit: PAGE, ...(cursor !== '' && { cursor }) }, { signal });
}

interface StepProps {
  change: Change;
  before: Change | undefined;
  /** True for the oldest change that the server has. */
  isLast: boolean;
  isCurrent: boolean;
  onRestore: ((version: Change) => void) | undefined;
}

function Step({ change, before, isLast, isCurrent, onRestore }: StepProps) {
  const nameOfToken = useTokenNames();
  const isCreated = change.type === 'plant.created';
  return (
    <li class={isCreated ? 'step created' : 'step'}>
      <div class="step-head">
        <span>
          <b>
            <bdi>{nameOfToken(change)}</bdi>
          </b>{' '}
          {isCreated ? 'added it' : 'changed it'}
        </span>
        <Time at={change.time} />
      </div>
      {isCreated && <VersionText plant={change.plant} />}
      {!isCreated && before && <Differences from={before.plant} to={change.plant} />}
      {!isCreated && isLast && <p class="step-note">Older changes were removed from the change log.</p>}
      <div class="step-foot">
        <span class="seq">Change {number(change.seq)}</span>
        {isCurrent && <span class="badge">Current</span>}
        {!isCurrent && onRestore && (
          <button type="button" class="link" onClick={() => onRestore(change)}>
            <Icon name="undo" />
            Restore this version
          </button>
        )}
      </div>
    </li>
  );
}

function VersionText({ plant: { name, tag } }: { plant: Texts }) {
  return (
    <p class="step-note">
      <bdi>{name.trim() === '' ? 'Empty name' : name}</bdi>
      {tag === undefined ? ', no tag' : `, ${tagText(tag)}`}
    </p>
  );
}

/** The fields that differ between two versions, word by word. */
export function Differences({ from, to, withUnchanged = false }: { from: Texts; to: Texts; withUnchanged?: boolean }) {
  return (
    <>
      <Difference label="Name" from={from.name} to={to.name} withUnchanged={withUnchanged} />
      <Difference label="Tag" from={from.tag} to={to.tag} withUnchanged={withUnchanged} />
    </>
  );
}

function Difference(props: {
  label: string;
  from: string | undefined;
  to: string | undefined;
  withUnchanged: boolean;
}) {
  const { label, from, to, withUnchanged } = props;
  if (from === to && !withUnchanged) return null;
  return (
    <div class="diff">
      <span class="diff-f">{label}</span>
      <span class="diff-v">
        {from === to ? (
          <>
            <bdi>{to ?? 'none'}</bdi> <span class="sub">unchanged</span>
          </>
        ) : (
          <>
            <Before from={from} to={to} />
            <span class="to">
              <Icon name="right" />
              <After from={from} to={to} />
            </span>
          </>
        )}
      </span>
    </div>
  );
}
