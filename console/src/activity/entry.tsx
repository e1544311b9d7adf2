// An entry of the change log: when, what, which plant and by which token. It opens to show the difference.

import type { Change } from 'plant-store/client';
import { memo } from 'preact/compat';
import { CHANGE_KINDS } from '../shared/change-kind.ts';
import { PlantDiff } from '../shared/diff.tsx';
import { Icon } from '../shared/icon.tsx';
import { Name, shorten, Tag } from '../shared/plant-text.tsx';
import { clockSeconds, exactTime } from '../shared/time.tsx';
import { EntryDetail } from './entry-detail.tsx';

const MAX_NAME_CHARS = 200;
const MAX_TITLE_CHARS = 1000;

interface Props {
  change: Change;
  by: string;
  /** The change before of the same plant, if known. */
  earlier: Change | undefined;
  isOpen: boolean;
  /** True for the entry that Tab reaches. The arrow keys reach the others. */
  isCurrent: boolean;
  isFresh: boolean;
  onToggle(seq: number): void;
}

export const Entry = memo(function Entry({ change, by, earlier, isOpen, isCurrent, isFresh, onToggle }: Props) {
  const { seq, time, type, plant, token } = change;
  const { icon, label, tone } = CHANGE_KINDS[type];
  const isWanted = type === 'plant.updated' && !earlier;
  return (
    <li
      class={`ev ${isOpen ? 'is-expanded' : ''} ${isFresh ? 'is-live' : ''}`}
      data-wanted={isWanted ? seq : undefined}
    >
      <button
        type="button"
        class="ev-row"
        data-seq={seq}
        aria-expanded={isOpen}
        tabIndex={isCurrent ? 0 : -1}
        onClick={() => onToggle(seq)}
      >
        <time class="ev-t" dateTime={time} title={exactTime(time)}>
          {clockSeconds(new Date(time))}
        </time>
        <span class={`badge ${tone}`}>
          <Icon name={icon} />
          {label}
        </span>
        <span class="ev-p">
          <span class="ev-n" title={shorten(plant.name, MAX_TITLE_CHARS)}>
            <Name of={shorten(plant.name, MAX_NAME_CHARS)} />
          </span>
          <span class="mono ev-id">{String(plant.id)}</span>
        </span>
        <span class="ev-w">
          <What change={change} earlier={earlier} />
        </span>
        <span class="ev-by">
          <Icon name={token === 'cli' ? 'terminal' : 'key'} />
          <bdi title={by}>{by}</bdi>
        </span>
        <Icon name="chevD" class="ev-c" />
      </button>
      {isOpen && <EntryDetail change={change} by={by} known={earlier} />}
    </li>
  );
});

/** The difference, as far as it is known. */
function What({ change: { type, plant }, earlier }: { change: Change; earlier: Change | undefined }) {
  if (type === 'plant.updated' && earlier) {
    const isSame = earlier.plant.name === plant.name && earlier.plant.tag === plant.tag;
    return isSame ? (
      <span class="sub">Nothing differs</span>
    ) : (
      <PlantDiff from={earlier.plant} to={plant} maxChars={MAX_NAME_CHARS} />
    );
  }
  return (
    <>
      {type === 'plant.updated' && <span class="sub">now</span>}
      {type === 'plant.deleted' && <span class="sub">was</span>}
      <Tag of={plant.tag} />
    </>
  );
}
