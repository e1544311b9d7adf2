// The first step of an import: the choice of a file.

import { count } from 'sample-species';
import { useIsOffline } from '../session/workspace.ts';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { replaceView } from '../view.ts';
import { DropZone } from './drop-zone.tsx';
import { useImport } from './import-run.tsx';

const CSV = `id,name,tag
10001,Abies balsamea,conifer
10002,Abutilon theophrasti,`;
const NDJSON = `{"id":10001,"name":"Abies balsamea"}
{"id":10002,"name":"Abutilon theophrasti"}`;

export function ChooseCard() {
  const { problem, isReading, startSample } = useImport();
  const isOffline = useIsOffline();
  return (
    <section class="card pad" aria-labelledby="import-title">
      <header class="card-head flat">
        <h2 id="import-title">Import</h2>
      </header>
      <div>
        <DropZone class="drop" isDisabled={isOffline} onGiven={forgetFilter}>
          <span class="drop-i">
            <Icon name="upload" />
          </span>
          <b>
            <span class="fine">Drop a CSV or NDJSON file here</span>
            <span class="coarse">Choose a CSV or NDJSON file</span>
          </b>
          <span>
            <span class="fine">
              or <u>choose a file</u>.{' '}
            </span>
            Nothing is stored before you have checked it.
          </span>
        </DropZone>
        <p role="status" class={isReading ? 'help late' : 'unseen'}>
          {isReading && 'Reading the file'}
        </p>
        <Problem text={problem} />
      </div>
      <div class="hints">
        <div>
          <h3>CSV</h3>
          <pre class="mini">{CSV}</pre>
        </div>
        <div>
          <h3>NDJSON</h3>
          <pre class="mini">{NDJSON}</pre>
        </div>
      </div>
      <p class="help">
        A line with a problem does not stop the others. Sending the same file twice stores nothing twice. No file at
        hand?{' '}
        <button
          type="button"
          class="link"
          disabled={isOffline}
          onClick={() => {
            forgetFilter();
            startSample();
          }}
        >
          Try {number(count)} sample species
        </button>
      </p>
    </section>
  );
}

/** The filter belongs to an export, which the steps of the import replace. */
function forgetFilter(): void {
  replaceView('transfer', {});
}
