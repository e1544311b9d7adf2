// A file is dropped or chosen, sent piece by piece, and each line that was refused is named. Sending a file again is
// safe, so one that was stopped can simply be dropped again.

import type { ImportResult } from 'plant-store/client';
import { useRef, useState } from 'preact/hooks';
import { Problem } from './show.tsx';
import { endsSession, useWorkspace } from './workspace.ts';

interface Transfer {
  file: File;
  bytes: number;
  result: ImportResult;
  state: 'running' | 'done' | 'stopped' | 'failed';
  problem?: string;
}

const NOTHING: ImportResult = { created: 0, replayed: 0, failed: 0, errors: [] };

export function ImportCard() {
  const workspace = useWorkspace();
  const [transfer, setTransfer] = useState<Transfer>();
  const [isOver, setOver] = useState(false);
  const stopping = useRef<AbortController>(undefined);

  async function send(file: File | undefined): Promise<void> {
    if (!file || transfer?.state === 'running') return;
    const type = typeOf(file);
    stopping.current = new AbortController();
    const { signal } = stopping.current;
    let last: Transfer = { file, bytes: 0, result: NOTHING, state: 'running' };
    const show = (part: Partial<Transfer>) => {
      last = { ...last, ...part };
      setTransfer(last);
    };
    show({});
    if (!type) return show({ state: 'failed', problem: 'Its name must end with .csv, .ndjson or .jsonl' });
    try {
      const result = await workspace.client.importFile(file, {
        type,
        signal,
        onProgress: ({ bytes, result }) => show({ bytes, result }),
      });
      show({ state: 'done', bytes: file.size, result });
    } catch (error) {
      if (signal.aborted) return show({ state: 'stopped' });
      if (!endsSession(error, workspace)) show({ state: 'failed', problem: (error as Error).message });
    }
  }

  return (
    <section
      class={isOver ? 'card drop over' : 'card drop'}
      aria-labelledby="import-title"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void send(event.dataTransfer?.files[0]);
      }}
    >
      <h2 id="import-title">Import</h2>
      <p>
        Drop a file here: NDJSON, or CSV with the header row <code>id,name,tag</code>. A line that is refused does not
        stop the others, and sending a file twice stores nothing twice.
      </p>
      <label class="file">
        <span>Choose a file</span>
        <input
          type="file"
          accept=".csv,.ndjson,.jsonl,text/csv,application/x-ndjson"
          onChange={(event) => {
            const input = event.currentTarget;
            void send(input.files?.[0]).finally(() => {
              input.value = ''; // the same file again is a choice, too
            });
          }}
        />
      </label>
      {transfer && <Progress transfer={transfer} onStop={() => stopping.current?.abort()} />}
    </section>
  );
}

function Progress({ transfer, onStop }: { transfer: Transfer; onStop(): void }) {
  const { file, bytes, result, state, problem } = transfer;
  const { created, replayed, failed, errors } = result;
  return (
    <div class="progress">
      <label>
        {file.name}
        <progress max={file.size || 1} value={state === 'done' ? file.size || 1 : bytes} />
      </label>
      <p role="status">
        {STATES[state]} {created.toLocaleString()} stored, {replayed.toLocaleString()} there already,{' '}
        {failed.toLocaleString()} refused
      </p>
      <Problem text={problem} />
      {state === 'running' && (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      )}
      {errors.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: who has only keys must be able to scroll it
        <section class="lines" aria-label="Lines that were refused" tabIndex={0}>
          <table>
            <caption>
              {failed > errors.length
                ? `The first ${errors.length.toLocaleString()} of ${failed.toLocaleString()} lines that were refused`
                : 'Lines that were refused'}
            </caption>
            <thead>
              <tr>
                <th scope="col">Line</th>
                <th scope="col">Why</th>
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
        </section>
      )}
    </div>
  );
}

const STATES: Record<Transfer['state'], string> = {
  running: 'Sending:',
  done: 'Done:',
  stopped: 'Stopped:',
  failed: 'Failed:',
};

function typeOf({ name }: File): 'text/csv' | 'application/x-ndjson' | undefined {
  if (/\.csv$/i.test(name)) return 'text/csv';
  return /\.(ndjson|jsonl)$/i.test(name) ? 'application/x-ndjson' : undefined;
}
