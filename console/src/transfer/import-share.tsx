// How much of the running import is done, for the navigation.

import { useImport } from './import-run.tsx';
import { percentOf } from './meter.tsx';

export function ImportShare() {
  const { run } = useImport();
  if (run?.state !== 'running') return null;
  return (
    <span class="nav-count" title={`Importing ${run.chosen.name}`}>
      {percentOf(run.bytes, run.chosen.file.size)} %
    </span>
  );
}
