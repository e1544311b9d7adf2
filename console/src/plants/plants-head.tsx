// The head of the list: totals, live updates, search, filters and row height.

import { setDensity, useDensity } from '../frame/settings.ts';
import { useWorkspace } from '../session/workspace.ts';
import { Segments, Select } from '../shared/field.tsx';
import { Icon, Keys } from '../shared/icon.tsx';
import { LiveButton } from '../shared/live-button.tsx';
import { count, number } from '../shared/numbers.ts';
import { linkTo } from '../view.ts';
import type { ListHandle } from './plant-list.tsx';
import { isFiltered, SORT_WORDS, type Sort, toParameters } from './plant-query.ts';
import { SearchBox } from './search-box.tsx';
import { FilterChips, matchText, TagFilter } from './tag-filter.tsx';
import type { PlantsState } from './use-plants-state.ts';

export function PlantsHead({ state, onAdd }: { state: PlantsState; onAdd: (() => void) | undefined }) {
  const { list, query, isLive, setLive, total } = state;
  const { can } = useWorkspace();
  const { sort: _, ...filter } = toParameters(query);
  return (
    <header class="head">
      <h1 id="title">Plants</h1>
      <span class="head-count">
        {isFiltered(query) && list.isLoaded && <span class="only-n">{number(list.rows)} of </span>}
        {total === undefined ? '' : number(total)}
      </span>
      <div class="grow" />
      {list.waiting > 0 && (!isLive || !(state.handle.current?.mayMove() ?? true)) && (
        <button
          type="button"
          class="btn s"
          onClick={() => {
            state.handle.current?.toTop();
            void list.reload();
          }}
        >
          <Icon name="up" />
          {count(list.waiting, 'new change')}
        </button>
      )}
      <LiveButton isLive={isLive} onChange={setLive} />
      {can('plants:write') && (
        <a class="btn quiet hide-n" href={linkTo('transfer')}>
          <Icon name="upload" />
          Import
        </a>
      )}
      <a class="btn quiet hide-n" href={linkTo('transfer', filter)}>
        <Icon name="download" />
        Export
      </a>
      {onAdd && (
        <button type="button" class="btn primary" onClick={onAdd}>
          <Icon name="plus" />
          <span class="lbl">Add plant</span>
          <Keys of={['N']} />
        </button>
      )}
    </header>
  );
}

export function PlantsToolbar({ state }: { state: PlantsState }) {
  const { query, change, list, search, handle, isFiltering, setFiltering, isSelecting, setSelecting, total } = state;
  const density = useDensity();
  return (
    <>
      <div class="toolbar">
        <SearchBox
          q={query.q}
          field={search}
          onSearch={(q) => change({ q })}
          onOpenId={(id) => state.open(id)}
          onDown={() => handle.current?.focus(0)}
        />
        <TagFilter
          query={query}
          matches={matchText(list.rows, list.isMore)}
          isOpen={isFiltering}
          onOpenChange={setFiltering}
          onChange={change}
        />
        <span class="only-s">
          <Select
            label="Sort"
            value={query.sort}
            options={Object.entries(SORT_WORDS).map(([value, text]) => ({
              value: value as Sort,
              text: sentence(text),
            }))}
            onChange={(sort) => change({ sort })}
          />
        </span>
        <button
          type="button"
          class="btn quiet only-s push"
          aria-pressed={isSelecting}
          onClick={() => {
            setSelecting(!isSelecting);
            state.selection.clear();
          }}
        >
          {isSelecting ? 'Done' : 'Select'}
        </button>
        <Segments
          label="Row height"
          class="push hide-n"
          value={density}
          options={[
            { value: 'comfortable', content: <Icon name="rows" />, label: 'Comfortable rows' },
            { value: 'compact', content: <Icon name="rowsTight" />, label: 'Compact rows' },
          ]}
          onChange={setDensity}
        />
      </div>
      <FilterChips
        query={query}
        rows={list.problem ? undefined : list.rows}
        isMore={list.isMore}
        total={total}
        onOpen={() => setFiltering(true)}
        onChange={change}
      />
    </>
  );
}

/** A list of up to this number of rows fits on most screens. */
const SHORT_LIST = 20;

/** The number of plants and their order, and the ways to both ends of the list. */
export function ListStatus({ state }: { state: PlantsState }) {
  const { list, query, handle } = state;
  return (
    <>
      {list.isMore ? 'More than ' : ''}
      {count(list.rows, 'plant')}, {SORT_WORDS[list.sort]}
      {list.sort !== query.sort && ' (other orders require at most 10,000 matches)'}
      {list.rows > SHORT_LIST && <ScrollButtons handle={handle} />}
    </>
  );
}

function ScrollButtons({ handle }: { handle: { current: ListHandle | null } }) {
  return (
    <>
      <button
        type="button"
        class="btn icon s quiet"
        aria-label="To the top"
        title="To the top (Home)"
        onClick={() => handle.current?.toTop()}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="btn icon s quiet"
        aria-label="To the end"
        title="To the end (End)"
        onClick={() => handle.current?.toEnd()}
      >
        <Icon name="down" />
      </button>
    </>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
