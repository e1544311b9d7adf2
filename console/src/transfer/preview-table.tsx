// Shows the first lines of a file as plants, and marks the cells that the server would refuse.

import type { ImportResult } from 'plant-store/client';
import { useMemo, useState } from 'preact/hooks';
import { splitCells } from '../../../src/files/csv-cells.ts';
import { parseJson } from '../../../src/lib/exact-json.ts';
import { errorText } from '../session/error-text.ts';
import { Segments } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { Name, Tag } from '../shared/plant-text.tsx';
import { columnNames, type FieldName } from './columns.ts';
import { badFields } from './dry-run.ts';
import type { FileRecord } from './file-records.ts';
import type { ChosenFile } from './import-run.tsx';

const ROWS_SHOWN = 50;
/** Maximum number of shown columns that are not imported. */
const UNUSED_SHOWN = 3;
const MAX_SHOWN_CHARS = 200;

interface Row {
  line: number;
  id: string;
  name: string | undefined;
  tag: string | undefined;
  unused: string[];
}

export function PreviewTable({ chosen, errors }: { chosen: ChosenFile; errors: ImportResult['errors'] }) {
  const [show, setShow] = useState<'all' | 'problems'>('all');
  const { head, columns } = chosen;
  const unused = columns.flatMap((field, at) => (field ? [] : [at])).slice(0, UNUSED_SHOWN);
  const byLine = useMemo(() => new Map(errors.map(({ line, error }) => [line, error])), [errors]);
  const bad = head.records.filter(({ line }) => byLine.has(line));
  const isBadOnly = show === 'problems' && bad.length > 0;
  const toRow = head.header ? (record: FileRecord) => csvRow(record, chosen, unused) : jsonRow;
  const rows = (isBadOnly ? bad : head.records).slice(0, ROWS_SHOWN).map(toRow);
  const names = columnNames(head);
  return (
    <section class="card" aria-labelledby="preview-title">
      <header class="card-head">
        <h2 id="preview-title">First lines</h2>
        {bad.length > 0 && (
          <Segments
            label="Show"
            class="s"
            value={isBadOnly ? 'problems' : 'all'}
            options={[
              { value: 'all', content: 'All' },
              {
                value: 'problems',
                content: (
                  <>
                    Problems <span class="seg-n">{bad.length}</span>
                  </>
                ),
              },
            ]}
            onChange={(value) => setShow(value)}
          />
        )}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by the keyboard */}
      <section class="preview" aria-label="Preview" tabIndex={0}>
        <table>
          <thead>
            <tr>
              {['Line', 'Id', 'Name', 'Tag'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
              {unused.map((at) => (
                <th key={at} scope="col" class="skip-col">
                  <bdi>{cut(names[at] ?? '')}</bdi>
                </th>
              ))}
              <th scope="col">
                <span class="unseen">Problem</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <PreviewRow key={row.line} row={row} error={byLine.get(row.line)} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function PreviewRow({ row, error }: { row: Row; error: ImportResult['errors'][number]['error'] | undefined }) {
  const marked = error ? badFields(error) : [];
  const classOf = (field: string) => (marked.includes(field) ? 'bad-cell' : undefined);
  return (
    <tr class={error && 'has-bad'}>
      <th scope="row">{row.line}</th>
      <td class={classOf('id')}>
        <span class="mono">
          <bdi>{cut(row.id) || (classOf('id') && 'missing')}</bdi>
        </span>
      </td>
      <td class={classOf('name')}>
        <span title={row.name}>{row.name === undefined ? 'missing' : <Name of={cut(row.name)} />}</span>
      </td>
      <td class={classOf('tag')}>
        {row.tag === undefined ? <span class="none">none</span> : <Tag of={cut(row.tag)} />}
      </td>
      {row.unused.map((text, at) => (
        <td key={at} class="skip-col">
          <bdi>{cut(text)}</bdi>
        </td>
      ))}
      {error ? (
        <td class="why">
          <Icon name="bad" />
          <bdi>{errorText(error)}</bdi>
        </td>
      ) : (
        <td />
      )}
    </tr>
  );
}

function csvRow({ line, text }: FileRecord, { columns }: ChosenFile, unused: number[]): Row {
  const cells = splitCells(text);
  const cellOf = (field: FieldName) => cells[columns.indexOf(field)];
  return {
    line,
    id: cellOf('id')?.text ?? '',
    name: cellOf('name')?.text,
    tag: cellOf('tag')?.raw === '' ? undefined : cellOf('tag')?.text,
    unused: unused.map((at) => cells[at]?.text ?? ''),
  };
}

/** A line that is not JSON is shown as a name. */
function jsonRow({ line, text }: FileRecord): Row {
  try {
    const { id, name, tag } = parseJson(text) as Record<string, unknown>;
    return { line, id: toText(id) ?? '', name: toText(name), tag: toText(tag), unused: [] };
  } catch {
    return { line, id: '', name: text, tag: undefined, unused: [] };
  }
}

function toText(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function cut(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text;
}
