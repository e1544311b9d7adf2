// The import while it runs: progress, counts and Stop.

import { number } from '../shared/numbers.ts';
import { duration } from '../shared/time.tsx';
import { type ImportRun, useImport } from './import-run.tsx';
import { Meter, percentOf } from './meter.tsx';
import { Counts, FileCard, Stepper } from './steps.tsx';

export function SendingStep({ run }: { run: ImportRun }) {
  const { stop } = useImport();
  const { chosen, bytes, result } = run;
  const percent = percentOf(bytes, chosen.file.size);
  const lines = result.created + result.replayed + result.failed;
  return (
    <div class="wrap narrow">
      <Stepper at={2} />
      <section class="card pad" aria-label="Import in progress">
        <FileCard chosen={chosen} />
        <div class="prog">
          <div class="prog-h">
            <b>{percent} %</b>
            <span class="sub">
              {number(lines)} lines{bytes > 0 && `, about ${leftOf(run)} left`}
            </span>
          </div>
          <Meter percent={percent} label="Imported" />
        </div>
        <Counts result={result} />
        <p class="help">You can open other pages. The import continues while this tab is open.</p>
        <div class="foot-bar flat">
          <div class="grow" />
          <button type="button" class="btn" onClick={stop}>
            Stop import
          </button>
        </div>
      </section>
    </div>
  );
}

function leftOf({ startedMs, bytes, chosen }: ImportRun): string {
  const perByteMs = (Date.now() - startedMs) / bytes;
  return duration((chosen.file.size - bytes) * perByteMs);
}
