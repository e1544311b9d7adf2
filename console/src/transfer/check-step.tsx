// The second step of an import: what is in the file and what would happen. Nothing is stored yet.

import { useIsOffline } from '../session/workspace.ts';
import { count } from '../shared/numbers.ts';
import { ColumnsCard } from './columns-card.tsx';
import { type DryRun, useDryRun } from './dry-run.ts';
import { type ChosenFile, useImport } from './import-run.tsx';
import { OutcomeCard } from './outcome-card.tsx';
import { PreviewTable } from './preview-table.tsx';
import { FileCard, Stepper } from './steps.tsx';

export function CheckStep({ chosen }: { chosen: ChosenFile }) {
  const { start, reset } = useImport();
  const isOffline = useIsOffline();
  const dryRun = useDryRun(chosen);
  const { result, isWhole, isCurrent } = dryRun;
  const outcome = <OutcomeCard chosen={chosen} dryRun={dryRun} />;
  const isUseful = result !== undefined && isCurrent && (!isWhole || result.created > 0);
  return (
    <div class="wrap">
      <Stepper at={1} />
      <FileCard chosen={chosen}>
        <button type="button" class="btn s" onClick={reset}>
          Choose another
        </button>
      </FileCard>
      {chosen.head.header ? (
        <div class="grid-check">
          <ColumnsCard chosen={chosen} />
          {outcome}
        </div>
      ) : (
        outcome
      )}
      <PreviewTable chosen={chosen} errors={result?.errors ?? []} />
      <div class="foot-bar">
        <button type="button" class="btn quiet" onClick={reset}>
          Cancel
        </button>
        <div class="grow" />
        <span class="sub hide-s">{noteOf(dryRun)}</span>
        <button type="button" class="btn primary" disabled={!isUseful || isOffline} onClick={() => start(chosen)}>
          {isWhole && result ? `Import ${count(result.created, 'plant')}` : 'Import the whole file'}
        </button>
      </div>
    </div>
  );
}

function noteOf({ result, isWhole }: DryRun): string {
  if (!result) return '';
  if (!isWhole) return 'Lines with problems are left out';
  if (result.created === 0) return 'No line of this file is new';
  return result.failed > 0 ? `${count(result.failed, 'line is', 'lines are')} left out` : '';
}
