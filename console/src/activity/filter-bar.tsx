// The filters of the change log: type, token and time.

import { useId } from 'preact/hooks';
import { Segments, Select } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import {
  type Filters,
  fromFieldTime,
  isFiltered,
  type Kind,
  NO_FILTERS,
  type TimeChoice,
  toFieldTime,
} from './filters.ts';

const KIND_OPTIONS: { value: Kind; content: string }[] = [
  { value: 'all', content: 'All' },
  { value: 'created', content: 'Added' },
  { value: 'updated', content: 'Updated' },
  { value: 'deleted', content: 'Deleted' },
];

const TIME_OPTIONS: { value: TimeChoice; text: string }[] = [
  { value: 'any', text: 'Any time' },
  { value: '1h', text: 'Last hour' },
  { value: '24h', text: 'Last 24 hours' },
  { value: '7d', text: 'Last 7 days' },
  { value: '30d', text: 'Last 30 days' },
  { value: 'between', text: 'Between…' },
];

export interface TokenOption {
  id: string;
  name: string;
}

interface Props {
  filters: Filters;
  tokens: TokenOption[];
  onChange(filters: Filters): void;
}

export function FilterBar({ filters, tokens, onChange }: Props) {
  const tokenOptions = [{ value: '', text: 'Any token' }, ...tokens.map(({ id, name }) => ({ value: id, text: name }))];
  return (
    <div class="toolbar many">
      <Segments<Kind>
        label="Type of change"
        value={filters.kind}
        options={KIND_OPTIONS}
        onChange={(kind) => onChange({ ...filters, kind })}
      />
      <Select
        label="Token"
        icon="key"
        value={filters.token}
        options={tokenOptions}
        onChange={(token) => onChange({ ...filters, token })}
      />
      <Select
        label="Time"
        icon="calendar"
        value={filters.time}
        options={TIME_OPTIONS}
        onChange={(time) => onChange({ ...filters, time })}
      />
      {filters.time === 'between' && (
        <div class="between">
          <TimeField label="From" value={filters.from} onChange={(from) => onChange({ ...filters, from })} />
          <TimeField label="To" value={filters.to} onChange={(to) => onChange({ ...filters, to })} />
        </div>
      )}
      {isFiltered(filters) && (
        <button type="button" class="btn quiet" onClick={() => onChange(NO_FILTERS)}>
          <Icon name="x" />
          Clear filters
        </button>
      )}
    </div>
  );
}

function TimeField({ label, value, onChange }: { label: string; value: string; onChange(value: string): void }) {
  const id = useId();
  return (
    <span class="between-f">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="datetime-local"
        value={toFieldTime(value)}
        onChange={(event) => onChange(fromFieldTime(event.currentTarget.value))}
      />
    </span>
  );
}
