// Shows how a CSV file was read, and lets the user choose another delimiter or encoding.

import { DELIMITERS, encodingName } from '../../../src/files/csv-dialect.ts';
import { Select } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { type ChosenFile, useImport } from './import-run.tsx';

const ENCODINGS = ['utf-8', 'windows-1252', 'windows-1250', 'utf-16le'];

export function DialectChoice({ chosen: { dialect, choice } }: { chosen: ChosenFile }) {
  const { readAs } = useImport();
  if (!dialect) return null;
  const { delimiter, encoding } = dialect;
  const delimiters = withCurrent(
    DELIMITERS.map((known) => known.delimiter),
    delimiter,
  );
  const fields = [
    {
      label: 'Delimiter',
      field: 'delimiter',
      value: delimiter,
      options: delimiters.map((value) => ({ value, text: capitalized(delimiterName(value)) })),
    },
    {
      label: 'Encoding',
      field: 'encoding',
      value: encoding,
      options: withCurrent(ENCODINGS, encoding).map((value) => ({ value, text: encodingName(value) })),
    },
  ] as const;
  return (
    <div class="read-as">
      {fields.map(({ label, field, value, options }) => (
        <div key={field} class="map">
          <span>{label}</span>
          <Icon name="right" />
          <Select
            label={label}
            value={value}
            options={options}
            onChange={(chosen) => readAs({ ...choice, [field]: chosen })}
          />
          <span class="sub map-s">{choice[field] === undefined ? 'recognised' : 'chosen'}</span>
        </div>
      ))}
    </div>
  );
}

/** Returns the name of a delimiter, or the character if it has none. */
export function delimiterName(delimiter: string): string {
  return DELIMITERS.find((known) => known.delimiter === delimiter)?.name ?? delimiter;
}

function withCurrent(known: string[], current: string): string[] {
  return known.includes(current) ? known : [...known, current];
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
