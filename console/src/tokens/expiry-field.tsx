// The choice of an expiry: never, one of the usual ones, a day, or a time from now.

import { Group, RadioSegments } from '../shared/choices.tsx';
import { Select } from '../shared/field.tsx';
import { useNow } from '../shared/time.tsx';
import { type Expiry, endsAtMs, expiryHelp, type Unit } from './expiry.ts';

const OPTIONS: { value: Expiry['kind']; text: string }[] = [
  { value: 'keep', text: 'As it is' },
  { value: 'never', text: 'Never' },
  { value: '30d', text: '30 days' },
  { value: '90d', text: '90 days' },
  { value: '365d', text: '1 year' },
  { value: 'date', text: 'Date…' },
  { value: 'duration', text: 'Duration…' },
];

const UNITS: { value: Unit; text: string }[] = [
  { value: 'h', text: 'hours' },
  { value: 'd', text: 'days' },
  { value: 'w', text: 'weeks' },
];

export function ExpiryField(props: {
  value: Expiry;
  /** The expiry of the existing token, if it has one. */
  kept?: string | undefined;
  error?: string | undefined;
  onChange(value: Expiry): void;
}) {
  const { value, kept, error, onChange } = props;
  const nowMs = useNow();
  const isInvalid = error !== undefined || undefined;
  return (
    <Group title="Expires" help={expiryHelp(endsAtMs(value, kept, nowMs))} error={error}>
      <RadioSegments
        value={value.kind}
        options={OPTIONS.filter((option) => option.value !== 'keep' || kept !== undefined)}
        onChange={(kind) => onChange({ ...value, kind })}
      />
      {value.kind === 'date' && (
        <input
          type="date"
          class="input"
          aria-label="Last day"
          aria-invalid={isInvalid}
          value={value.date}
          onInput={(event) => onChange({ ...value, date: event.currentTarget.value })}
        />
      )}
      {value.kind === 'duration' && (
        <div class="with-btn">
          <input
            class="input"
            inputMode="numeric"
            aria-label="Time from now"
            aria-invalid={isInvalid}
            placeholder="45"
            value={value.count}
            onInput={(event) => onChange({ ...value, count: event.currentTarget.value.trim() })}
          />
          <Select label="Unit" value={value.unit} options={UNITS} onChange={(unit) => onChange({ ...value, unit })} />
        </div>
      )}
    </Group>
  );
}
