// The popover with all tags, their counts and "No tag", and the chip of the chosen ones.

import { useState } from 'preact/hooks';
import { useSummary } from '../session/queries.ts';
import { Icon } from '../shared/icon.tsx';
import { count, number } from '../shared/numbers.ts';
import { TagDot, tagText } from '../shared/plant-text.tsx';
import { Popover } from '../shared/popover.tsx';
import type { PlantQuery } from './plant-query.ts';

const MAX_SHOWN = 50;

interface Props {
  query: PlantQuery;
  matches: string;
  isOpen: boolean;
  onOpenChange(isOpen: boolean): void;
  onChange(change: Pick<PlantQuery, 'tags' | 'isUntagged'>): void;
}

export function TagFilter({ query, matches, isOpen, onOpenChange, onChange }: Props) {
  return (
    <Popover
      label="Filter by tag"
      buttonClass="btn"
      isOpen={isOpen}
      onOpenChange={onOpenChange}
      button={
        <>
          <Icon name="filter" />
          <span class="lbl">Filter</span>
        </>
      }
    >
      <Options query={query} onChange={onChange} />
      <p class="pop-foot">
        {query.tags.length > 0 || query.isUntagged
          ? `Plants with any of these. ${matches}`
          : 'Choose one or more tags.'}
      </p>
    </Popover>
  );
}

function Options({ query, onChange }: Pick<Props, 'query' | 'onChange'>) {
  const { tags: chosen, isUntagged } = query;
  const summary = useSummary();
  const [text, setText] = useState('');
  const known = summary?.tags ?? [];
  const others = chosen
    .filter((tag) => !known.some((one) => one.tag === tag))
    .map((tag) => ({ tag, plants: undefined }));
  const wanted = text.trim().toLowerCase();
  const shown = [...others, ...known].filter(({ tag }) => tag.toLowerCase().includes(wanted)).slice(0, MAX_SHOWN);
  const isNew = wanted !== '' && !shown.some(({ tag }) => tag.toLowerCase() === wanted);

  function toggle(tag: string): void {
    const tags = chosen.includes(tag) ? chosen.filter((one) => one !== tag) : [...chosen, tag];
    onChange({ tags, isUntagged });
  }

  return (
    <>
      <div class="pop-search">
        <Icon name="search" />
        <input
          class="bare-input"
          placeholder="Find a tag"
          aria-label="Find a tag"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <ul class="opts">
        {shown.map(({ tag, plants }) => (
          <li key={tag}>
            <label class="opt">
              <input type="checkbox" checked={chosen.includes(tag)} onChange={() => toggle(tag)} />
              <TagDot of={tag} />
              <bdi class="opt-t">{tagText(tag)}</bdi>
              {plants !== undefined && <span class="opt-n">{number(plants)}</span>}
            </label>
          </li>
        ))}
        {isNew && (
          <li>
            <button type="button" class="opt" onClick={() => toggle(text.trim())}>
              <Icon name="plus" />
              Filter by “{text.trim()}”
            </button>
          </li>
        )}
        <li class="opt-sep">
          <label class="opt">
            <input
              type="checkbox"
              checked={isUntagged}
              onChange={() => onChange({ tags: chosen, isUntagged: !isUntagged })}
            />
            <TagDot of={undefined} />
            <span>No tag</span>
            {summary && <span class="opt-n">{number(summary.untagged)}</span>}
          </label>
        </li>
      </ul>
    </>
  );
}

/** The chosen tags as one chip. Each can be removed. */
export function FilterChips(props: {
  query: PlantQuery;
  /** Undefined while it is not known. */
  rows: number | undefined;
  isMore: boolean;
  total: number | undefined;
  onOpen(): void;
  onChange(change: Partial<PlantQuery>): void;
}) {
  const { query, rows, isMore, total, onOpen, onChange } = props;
  const { tags, isUntagged, q } = query;
  const hasTags = tags.length > 0 || isUntagged;
  if (!hasTags && q.trim() === '') return null;
  return (
    <section class="chips" aria-label="Active filters">
      {hasTags && (
        <span class="chip">
          <span class="chip-k">Tag</span>
          <span class="chip-op hide-n">{tags.length + Number(isUntagged) > 1 ? 'any of' : 'is'}</span>
          {tags.map((tag) => (
            <button
              key={tag}
              type="button"
              class="chip-v"
              title={`Remove ${tagText(tag)}`}
              onClick={() => onChange({ tags: tags.filter((one) => one !== tag) })}
            >
              <TagDot of={tag} />
              <bdi>{tagText(tag)}</bdi>
            </button>
          ))}
          {isUntagged && (
            <button type="button" class="chip-v" title="Remove No tag" onClick={() => onChange({ isUntagged: false })}>
              No tag
            </button>
          )}
          <button
            type="button"
            class="chip-x"
            aria-label="Remove tag filter"
            onClick={() => onChange({ tags: [], isUntagged: false })}
          >
            <Icon name="x" />
          </button>
        </span>
      )}
      {hasTags && (
        <button type="button" class="chip-add hide-n" onClick={onOpen}>
          <Icon name="plus" />
          Tag
        </button>
      )}
      <button type="button" class="link push hide-n" onClick={() => onChange({ q: '', tags: [], isUntagged: false })}>
        Clear
      </button>
      {rows !== undefined && (
        <span class="chips-n hide-n">
          <b>{`${isMore ? 'more than ' : ''}${number(rows)}`}</b>
          {total !== undefined && ` of ${number(total)}`}
        </span>
      )}
    </section>
  );
}

/** Returns "2,207 plants match." */
export function matchText(rows: number, isMore: boolean): string {
  return `${isMore ? 'More than ' : ''}${count(rows, 'plant')} ${rows === 1 ? 'matches' : 'match'}.`;
}
