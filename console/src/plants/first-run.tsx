// What an empty store shows: three ways to store the first plants.

import { count } from 'sample-species';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Fern } from '../shared/fern.tsx';
import { Icon, Keys } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { DropZone } from '../transfer/drop-zone.tsx';
import { useImport } from '../transfer/import-run.tsx';
import { openView } from '../view.ts';
import { ConnectCard } from './connect-card.tsx';
import { FirstPlantForm } from './first-plant-form.tsx';

/** `onAdded` is called after the user added a plant here. */
export function FirstRun({ onAdded }: { onAdded?(): void }) {
  const { can } = useWorkspace();
  const canWrite = can('plants:write');
  return (
    <div class="page first">
      <div class="first-head">
        <Fern pairs={15} />
        <div>
          <h2>Start your collection</h2>
          <p>
            This store is empty.{' '}
            {canWrite ? 'Choose how the first plants get in.' : 'Your token can read plants, but not store them.'}
          </p>
        </div>
      </div>
      <div class={canWrite ? 'choices' : 'choices one'}>
        {canWrite && <FirstPlantForm onAdded={onAdded} />}
        {canWrite && <ImportChoice />}
        <ConnectCard />
      </div>
      <p class="first-foot">
        <Keys of={['Ctrl K']} /> finds every command. <Keys of={['?']} /> shows the shortcuts.
      </p>
    </div>
  );
}

function ImportChoice() {
  const { startSample } = useImport();
  const isOffline = useIsOffline();
  return (
    <section class="choice-card" aria-labelledby="first-import">
      <h3 id="first-import">
        <Icon name="upload" />
        Import a file
      </h3>
      <p>CSV with a header row, or NDJSON. You see every problem before anything is stored.</p>
      <DropZone class="drop-mini" isDisabled={isOffline} onGiven={() => openView('transfer')}>
        <Icon name="sheet" />
        <b>
          <span class="fine">Drop a file here</span>
          <span class="coarse">Choose a file</span>
        </b>
        <span class="fine">or choose one</span>
      </DropZone>
      <div class="card-end">
        <p class="or">
          <span>or</span>
        </p>
        <button
          type="button"
          class="btn block"
          disabled={isOffline}
          onClick={() => {
            startSample();
            openView('transfer');
          }}
        >
          <Icon name="plants" />
          Try {number(count)} sample species
        </button>
      </div>
    </section>
  );
}
