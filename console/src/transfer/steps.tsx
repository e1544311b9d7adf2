// Parts that the steps of an import share: where the user is, the file, and the counts.

import type { ImportResult } from 'plant-store/client';
import type { ComponentChildren } from 'preact';
import { encodingName } from '../../../src/files/csv-dialect.ts';
import { Icon } from '../shared/icon.tsx';
import { bytes, count, number } from '../shared/numbers.ts';
import { columnNames } from './columns.ts';
import { delimiterName } from './dialect-choice.tsx';
import type { ChosenFile } from './import-run.tsx';

const STEPS = ['Choose a file', 'Check', 'Import'];

/** `at` is the index of the current step, or the number of steps if all are done. */
export function Stepper({ at }: { at: number }) {
  return (
    <ol class="stepper" aria-label="Steps">
      {STEPS.map((step, index) => (
        <li key={step} class={index < at ? 'past' : undefined} aria-current={index === at ? 'step' : undefined}>
          <span>{index < at ? <Icon name="check" /> : index + 1}</span>
          {step}
          {index < at && <span class="unseen"> done</span>}
        </li>
      ))}
    </ol>
  );
}

export function FileCard({ chosen, children }: { chosen: ChosenFile; children?: ComponentChildren }) {
  const { name, source, dialect, head } = chosen;
  const parts = dialect
    ? [
        `CSV with ${count(columnNames(head).length, 'column')}`,
        encodingName(dialect.encoding),
        delimiterName(dialect.delimiter),
      ]
    : ['NDJSON'];
  return (
    <div class="file-card">
      <Icon name="sheet" />
      <div>
        <b>
          <bdi>{name}</bdi>
        </b>
        <span class="sub">{[bytes(source.size), ...parts].join(', ')}</span>
      </div>
      {children}
    </div>
  );
}

export function Counts({ result, isFinal = false }: { result: ImportResult; isFinal?: boolean }) {
  const { created, replayed, failed } = result;
  return (
    <dl class="trio">
      <div class={isFinal && created > 0 ? 'ok' : undefined}>
        <dt>Added</dt>
        <dd>{number(created)}</dd>
      </div>
      <div>
        <dt>Unchanged</dt>
        <dd>{number(replayed)}</dd>
      </div>
      <div class={isFinal && failed > 0 ? 'bad' : undefined}>
        <dt>Refused</dt>
        <dd>{number(failed)}</dd>
      </div>
    </dl>
  );
}
