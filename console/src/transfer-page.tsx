// The page for importing and exporting files.

import { ExportCard } from './export-card.tsx';
import { ImportCard } from './import-card.tsx';
import { useWorkspace } from './workspace.ts';

export function TransferPage() {
  const { can } = useWorkspace();
  return (
    <section class="page" aria-labelledby="transfer-title">
      <h1 id="transfer-title">Import and export</h1>
      <div class="cards">
        {can('plants:write') && <ImportCard />}
        {can('plants:read') && <ExportCard />}
      </div>
    </section>
  );
}
