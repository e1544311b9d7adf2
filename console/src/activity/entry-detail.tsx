// An opened entry: both versions side by side, the facts of the change and what can be done with it.

import type { Change, NewPlant } from 'plant-store/client';
import { printJson } from '../../../src/lib/exact-json.ts';
import { errorText } from '../session/error-text.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { CopyButton } from '../shared/copy.tsx';
import { After, Before } from '../shared/diff.tsx';
import { Fact } from '../shared/fact.tsx';
import { Icon } from '../shared/icon.tsx';
import { Late } from '../shared/late.tsx';
import { Name, Tag } from '../shared/plant-text.tsx';
import { clockSeconds, shortDate } from '../shared/time.tsx';
import { linkTo } from '../view.ts';
import { usePast } from './earlier-versions.ts';
import { useRestore } from './use-restore.ts';

/** `known` is the change before of the same plant, if the list contains it. */
export function EntryDetail({ change, by, known }: { change: Change; by: string; known: Change | undefined }) {
  const past = usePast(change);
  const isUpdate = change.type === 'plant.updated';
  const earlier = (past.data?.earlier ?? known)?.plant;
  return (
    <div class="ev-more">
      <div class="ev-versions">
        {earlier ? <Comparison from={earlier} to={change.plant} /> : <OneVersion change={change} />}
        {isUpdate && past.isPending && !earlier && (
          <Late>
            <p class="sub">Loading the version before…</p>
          </Late>
        )}
        {isUpdate && past.data && !earlier && <p class="sub">The version before is no longer in the change log.</p>}
        {past.error && !earlier && (
          <p class="err" role="alert">
            <span>
              The version before could not be loaded. {errorText(past.error)}{' '}
              <button type="button" class="link" onClick={() => void past.refetch()}>
                Try again
              </button>
            </span>
          </p>
        )}
      </div>
      <Facts change={change} by={by} />
      <Actions change={change} earlier={past.data?.isLatest ? earlier : undefined} />
    </div>
  );
}

function Comparison({ from, to }: { from: NewPlant; to: NewPlant }) {
  return (
    <table class="cmp">
      <thead>
        <tr>
          <td />
          <th scope="col">Before</th>
          <th scope="col">After</th>
        </tr>
      </thead>
      <tbody>
        {(['name', 'tag'] as const).map((field) => (
          <tr key={field}>
            <th scope="row">{field === 'name' ? 'Name' : 'Tag'}</th>
            <td>
              <Before from={from[field]} to={to[field]} />
            </td>
            <td>
              <After from={from[field]} to={to[field]} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function OneVersion({ change: { type, plant } }: { change: Change }) {
  return (
    <table class="cmp one">
      <thead>
        <tr>
          <td />
          <th scope="col">{type === 'plant.deleted' ? 'Before' : 'After'}</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">Name</th>
          <td>
            <Name of={plant.name} />
          </td>
        </tr>
        <tr>
          <th scope="row">Tag</th>
          <td>
            <Tag of={plant.tag} />
          </td>
        </tr>
      </tbody>
    </table>
  );
}

function Facts({ change: { seq, token, time, plant }, by }: { change: Change; by: string }) {
  const { can } = useWorkspace();
  const at = new Date(time);
  return (
    <dl class="ev-facts">
      <Fact label="Change">
        <span class="mono">{seq}</span>
      </Fact>
      <Fact label="Plant">
        <span class="mono">{String(plant.id)}</span>
      </Fact>
      <Fact label="Token">
        {can('admin') && token !== 'cli' ? (
          <a class="link" href={linkTo('tokens')}>
            <bdi>{by}</bdi>
          </a>
        ) : (
          <bdi>{by}</bdi>
        )}
      </Fact>
      <Fact label="Time">
        {shortDate(at, 0)}, {clockSeconds(at)}
      </Fact>
    </dl>
  );
}

function Actions({ change, earlier }: { change: Change; earlier: NewPlant | undefined }) {
  const { can } = useWorkspace();
  const isOffline = useIsOffline();
  const { createAgain, putBack } = useRestore();
  const isBusy = isOffline || createAgain.isPending || putBack.isPending;
  const isGone = change.type === 'plant.deleted';
  return (
    <div class="ev-acts">
      {!isGone && (
        <a class="btn s" href={linkTo('plants', { id: String(change.plant.id) })}>
          <Icon name="plants" />
          Open plant
        </a>
      )}
      {isGone && can('plants:write') && (
        <button type="button" class="btn s" disabled={isBusy} onClick={() => createAgain.mutate(change)}>
          <Icon name="undo" />
          Restore
        </button>
      )}
      {earlier && can('plants:write') && (
        <button type="button" class="btn s" disabled={isBusy} onClick={() => putBack.mutate({ change, earlier })}>
          <Icon name="undo" />
          Restore the version before
        </button>
      )}
      <CopyButton text={printJson(change)} label="Copy this change as JSON">
        Copy as JSON
      </CopyButton>
    </div>
  );
}
