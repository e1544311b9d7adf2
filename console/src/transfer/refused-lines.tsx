// The lines that an import refused, each with its reason, and a file of them.

import { useQuery } from '@tanstack/preact-query';
import { useState } from 'preact/hooks';
import { errorText } from '../session/error-text.ts';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { failedLinesFile } from './failed-lines.ts';
import { findRecords } from './file-records.ts';
import { fileErrorText, type ImportRun } from './import-run.tsx';
import { download } from './plant-file.ts';

const SHOWN_FIRST = 10;
const SHOWN_MORE = 100;
const MAX_SHOWN_CHARS = 300;

export function RefusedLines({ run: { chosen, result } }: { run: ImportRun }) {
  const { file, head, key, name } = chosen;
  const { errors, failed } = result;
  const [shown, setShown] = useState(SHOWN_FIRST);
  const { data: records, error } = useQuery({
    queryKey: ['refused', key, errors.length],
    queryFn: () =>
      findRecords(
        file,
        head.type,
        errors.map(({ line }) => line),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const texts = new Map(records?.map(({ line, text }) => [line, text]));
  const rest = errors.length - shown;

  function save(): void {
    if (records) download(failedLinesFile(records, head, head.type), failedName(name));
  }

  return (
    <section class="card" aria-labelledby="refused-title">
      <header class="card-head">
        <h2 id="refused-title">
          Refused lines <span class="seg-n">{number(failed)}</span>
        </h2>
        <button type="button" class="btn s" disabled={!records} onClick={save}>
          <Icon name="download" />
          Download {failed > errors.length ? `the first ${number(errors.length)}` : 'refused lines'}
        </button>
      </header>
      {error && <Problem text={fileErrorText(error)} />}
      <ul class="fails">
        {errors.slice(0, shown).map(({ line, error }) => (
          <li key={line}>
            <span class="f-n">Line {number(line)}</span>
            <span class="f-w">
              <b>
                <bdi>{errorText(error)}</bdi>
              </b>
              {texts.has(line) && (
                <code>
                  <bdi>{(texts.get(line) ?? '').slice(0, MAX_SHOWN_CHARS)}</bdi>
                </code>
              )}
            </span>
          </li>
        ))}
      </ul>
      <p class="more-row">
        {rest > 0 && (
          <button type="button" class="link" onClick={() => setShown(shown + SHOWN_MORE)}>
            Show {number(Math.min(rest, SHOWN_MORE))} more
          </button>
        )}
        <span class="sub">
          {failed > errors.length &&
            `The report lists the first ${number(errors.length)} of ${number(failed)} refused lines. Import the fixed file, then the whole file again for the others. `}
          Correct the downloaded file and import it: only those lines are sent.
        </span>
      </p>
    </section>
  );
}

/** Returns the name of the file of refused lines: `stock-refused.csv` for `stock.csv`. */
function failedName(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? `${name.slice(0, dot)}-refused${name.slice(dot)}` : `${name}-refused`;
}
