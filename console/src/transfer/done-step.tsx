// The end of an import: counts, and the refused lines to fix and send again.

import { useWorkspace } from '../session/workspace.ts';
import { Icon } from '../shared/icon.tsx';
import { count } from '../shared/numbers.ts';
import { duration, longTime } from '../shared/time.tsx';
import { linkTo } from '../view.ts';
import { type ImportRun, useImport } from './import-run.tsx';
import { RefusedLines } from './refused-lines.tsx';
import { Counts, Stepper } from './steps.tsx';

const TITLES: Record<ImportRun['state'], string> = {
  running: '',
  done: 'Import finished',
  stopped: 'Import stopped',
  failed: 'Import did not finish',
};

export function DoneStep({ run }: { run: ImportRun }) {
  const { reset, start } = useImport();
  const { can } = useWorkspace();
  const { chosen, state, problem, result, startedMs, endedMs = startedMs } = run;
  const isDone = state === 'done';
  return (
    <div class="wrap narrow">
      <Stepper at={isDone ? 3 : 2} />
      <section class="card pad" aria-labelledby="done-title">
        <div class={isDone ? 'done-h' : 'done-h warn'}>
          <Icon name={isDone ? 'good' : 'alert'} />
          <div>
            <h2 id="done-title">{TITLES[state]}</h2>
            <p class="sub">
              <bdi>{chosen.name}</bdi>, {longTime(new Date(endedMs))}, took {duration(endedMs - startedMs)}
            </p>
          </div>
        </div>
        {!isDone && (
          <p class="callout warn" role="alert">
            <span>
              {problem} What was stored stays. Lines in flight may also have been stored. Sending the file again is
              safe: nothing is stored twice.
            </span>
          </p>
        )}
        <Counts result={result} isFinal />
        <div class="btn-row">
          {!isDone && (
            <button type="button" class="btn primary" onClick={() => start(chosen)}>
              Send again
            </button>
          )}
          {can('plants:read') && result.created > 0 && (
            <a class={isDone ? 'btn primary' : 'btn'} href={linkTo('plants')}>
              {isDone ? `Show the ${count(result.created, 'plant')}` : 'Show the plants'}
            </a>
          )}
          <button type="button" class="btn" onClick={reset}>
            Import another file
          </button>
        </div>
      </section>
      {result.errors.length > 0 && <RefusedLines run={run} />}
    </div>
  );
}
