// Imports a file that the user drops or chooses, and lists each rejected line. Importing a file again is safe, so a
// stopped import can be repeated.

import { useEffect, useState } from 'preact/hooks';
import { type ImportRun, useImport } from './import-run.tsx';
import { Scrolling } from './scrolling.tsx';
import { Problem } from './show.tsx';

export function ImportCard() {
  const { run, start, stop } = useImport();
  const [isOver, setOver] = useState(false);

  useEffect(() => {
    for (const type of ['dragover', 'drop']) addEventListener(type, keepPage);
    return () => {
      for (const type of ['dragover', 'drop']) removeEventListener(type, keepPage);
    };
  }, []);

  return (
    <section
      class={isOver ? 'card drop over' : 'card drop'}
      aria-labelledby="import-title"
      onDragOver={() => setOver(true)}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        start([...(event.dataTransfer?.files ?? [])]);
      }}
    >
      <h2 id="import-title">Import</h2>
      <p>
        Drop an NDJSON file here, or a CSV file with the header row <code>id,name,tag</code>. A rejected line does not
        stop the import. Importing the same file twice stores nothing twice.
      </p>
      <label class="file">
        <span>Choose a file</span>
        <input
          type="file"
          accept=".csv,.ndjson,.jsonl,text/csv,application/x-ndjson"
          onChange={({ currentTarget: input }) => {
            start([...(input.files ?? [])]);
            input.value = ''; // Otherwise choosing the same file again has no effect.
          }}
        />
      </label>
      {run && <Progress run={run} onStop={stop} />}
    </section>
  );
}

/** Prevents the browser from opening a file that was dropped beside the card. */
function keepPage(event: Event): void {
  event.preventDefault();
}

function Progress({ run, onStop }: { run: ImportRun; onStop(): void }) {
  const { name, totalBytes, bytes, result, state, problem } = run;
  const { created, replayed, failed } = result;
  return (
    <div class="progress">
      <label>
        {name}
        <progress max={totalBytes || 1} value={state === 'done' ? totalBytes || 1 : bytes} />
      </label>
      <p role="status">
        {STATES[state]} {created.toLocaleString()} added, {replayed.toLocaleString()} unchanged,{' '}
        {failed.toLocaleString()} rejected
        {state === 'stopped' && '. Lines in flight may also have been stored.'}
      </p>
      <Problem text={problem} />
      {state === 'running' && (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      )}
      <RejectedLines {...result} />
    </div>
  );
}

function RejectedLines({ failed, errors }: ImportRun['result']) {
  if (errors.length === 0) return null;
  return (
    <Scrolling class="lines" label="Rejected lines">
      <table>
        <caption>
          {failed > errors.length
            ? `First ${errors.length.toLocaleString()} of ${failed.toLocaleString()} rejected lines`
            : 'Rejected lines'}
        </caption>
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">Reason</th>
          </tr>
        </thead>
        <tbody>
          {errors.map(({ line, error }) => (
            <tr key={line}>
              <td class="id">{line}</td>
              <td>{error.message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}

const STATES: Record<ImportRun['state'], string> = {
  running: 'Importing:',
  done: 'Import finished:',
  stopped: 'Import stopped:',
  failed: 'Import failed:',
};
