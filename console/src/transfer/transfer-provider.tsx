// Keeps the import and the export that run while the user opens other pages.

import type { ComponentChildren } from 'preact';
import { ExportProvider } from './export-run.tsx';
import { ImportProvider } from './import-run.tsx';

export function TransferProvider({ children }: { children: ComponentChildren }) {
  return (
    <ImportProvider>
      <ExportProvider>{children}</ExportProvider>
    </ImportProvider>
  );
}
