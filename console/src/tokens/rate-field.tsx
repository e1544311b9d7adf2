// The choice of a rate limit: none, one of the usual ones, or another.

import { useState } from 'preact/hooks';
import { Group, RadioSegments } from '../shared/choices.tsx';
import { Select } from '../shared/field.tsx';
import { PERIODS, type Period, rateText, splitRate } from './token-text.ts';

const PRESETS = ['10/s', '100/s', '600/m'];
const OTHER = 'other';
const NONE = 'none';

const PERIOD_OPTIONS = Object.entries(PERIODS).map(([value, text]) => ({
  value: value as Period,
  text: `per ${text}`,
}));

/** `value` is a rate such as `100/s`, or undefined for no limit. */
export function RateField(props: {
  value: string | undefined;
  error?: string | undefined;
  onChange(value: string | undefined): void;
}) {
  const { value, error, onChange } = props;
  const [isOther, setOther] = useState(value !== undefined && !PRESETS.includes(value));
  const chosen = isOther ? OTHER : (value ?? NONE);
  const { count, period } = splitRate(value ?? '');

  function choose(choice: string): void {
    setOther(choice === OTHER);
    if (choice !== OTHER) onChange(choice === NONE ? undefined : choice);
    else onChange(value ?? '/s');
  }

  return (
    <Group
      title="Rate limit"
      help="The server refuses requests above it. The program can send them again later."
      error={error}
    >
      <RadioSegments
        value={chosen}
        options={[
          { value: NONE, text: 'No limit' },
          ...PRESETS.map((rate) => ({ value: rate, text: rateText(rate) })),
          { value: OTHER, text: 'Other…' },
        ]}
        onChange={choose}
      />
      {isOther && (
        <div class="with-btn">
          <input
            class="input"
            inputMode="numeric"
            aria-label="Number of requests"
            placeholder="5000"
            value={count}
            aria-invalid={error !== undefined || undefined}
            onInput={(event) => onChange(`${event.currentTarget.value.trim()}/${period}`)}
          />
          <Select
            label="Period"
            value={period}
            options={PERIOD_OPTIONS}
            onChange={(next) => onChange(`${count}/${next}`)}
          />
        </div>
      )}
    </Group>
  );
}

/** Returns the error of a rate, if it has one. */
export function checkRate(rate: string | undefined): string | undefined {
  if (rate === undefined || /^([1-9]\d{0,5}|1000000)\/[smh]$/.test(rate)) return undefined;
  return 'Enter a whole number from 1 to 1,000,000.';
}
