// The page that imports a file in three steps (choose, check, import) and exports plants to a file.

import { StatusStrip } from '../frame/notices.tsx';
import { useWorkspace } from '../session/workspace.ts';
import { CheckStep } from './check-step.tsx';
import { ChooseCard } from './choose-card.tsx';
import { DoneStep } from './done-step.tsx';
import { ExportCard } from './export-card.tsx';
import { hasFilter, useFilter } from './filter.ts';
import { useImport } from './import-run.tsx';
import { SendingStep } from './sending-step.tsx';

export function TransferPage() {
  const { can } = useWorkspace();
  const { chosen, run } = useImport();
  const filter = useFilter();
  const step = useStep();
  const exportCard = can('plants:read') && <ExportCard filter={filter} />;
  return (
    <>
      {/* The key makes each step start at its top. */}
      <section key={step} class="page" aria-labelledby="transfer-title">
        <header class="head page-head">
          <h1 id="transfer-title">Import and export</h1>
        </header>
        {step === 'choose' && (
          <div class="wrap side-by">
            {can('plants:write') && <ChooseCard />}
            {exportCard}
          </div>
        )}
        {step !== 'choose' && hasFilter(filter) && <div class="wrap narrow">{exportCard}</div>}
        {step === 'sending' && run && <SendingStep run={run} />}
        {step === 'check' && chosen && <CheckStep key={chosen.key} chosen={chosen} />}
        {step === 'done' && run && <DoneStep key={run.startedMs} run={run} />}
      </section>
      <StatusStrip />
    </>
  );
}

function useStep(): 'choose' | 'check' | 'sending' | 'done' {
  const { chosen, run } = useImport();
  if (run?.state === 'running') return 'sending';
  if (chosen) return 'check';
  return run ? 'done' : 'choose';
}
