// Shows which column of a CSV file becomes what, and lets the user choose.

import { PLANT_FIELDS } from '../../../src/domain/names.ts';
import { splitCells } from '../../../src/files/csv-cells.ts';
import { Problem, Select } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { columnNames, type FieldName } from './columns.ts';
import { DialectChoice } from './dialect-choice.tsx';
import { type ChosenFile, useImport } from './import-run.tsx';

const LABELS: Record<FieldName, string> = { id: 'Id', name: 'Name', tag: 'Tag' };
const NOT_IMPORTED = { value: '', text: 'Not imported' } as const;
const OPTIONS = [...PLANT_FIELDS.map((field) => ({ value: field, text: LABELS[field] })), NOT_IMPORTED];
const SAMPLES = 3;
/** Maximum number of columns shown. A file with more is no list of plants. */
const MAX_SHOWN = 30;

export function ColumnsCard({ chosen }: { chosen: ChosenFile }) {
  const { setColumns, problem } = useImport();
  const { head, columns } = chosen;
  const rows = head.records.slice(0, SAMPLES).map(({ text }) => splitCells(text));

  /** A field has one column. */
  function choose(at: number, field: FieldName | ''): void {
    setColumns(columns.map((now, other) => (other === at ? field || undefined : now === field ? undefined : now)));
  }

  return (
    <section class="card pad" aria-labelledby="columns-title">
      <h2 id="columns-title">Columns</h2>
      {columnNames(head)
        .slice(0, MAX_SHOWN)
        .map((name, at) => {
          const samples = rows.map((cells) => cells[at]?.text ?? '').filter((text) => text.trim() !== '');
          return (
            <div key={at} class={columns[at] ? 'map' : 'map off'}>
              <bdi class="mono" title={name}>
                {name || `Column ${at + 1}`}
              </bdi>
              <Icon name="right" />
              <Select
                label={`Column ${name || at + 1} becomes`}
                value={columns[at] ?? ''}
                options={OPTIONS}
                onChange={(field) => choose(at, field)}
              />
              <bdi class="sub map-s" title={samples.join(', ')}>
                {samples.join(', ')}
              </bdi>
            </div>
          );
        })}
      {columnNames(head).length > MAX_SHOWN && (
        <p class="help">
          The file has {columnNames(head).length} columns. The first {MAX_SHOWN} are shown.
        </p>
      )}
      <DialectChoice chosen={chosen} />
      {problem && <Problem text={problem} />}
    </section>
  );
}
