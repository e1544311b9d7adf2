// The dialog for an edit conflict. It shows the stored version beside the user's version, and the user chooses one.

import { type PlantRecord, PlantStoreError, type Versioned } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { tellTexts } from './plant-fields.tsx';
import { Name, nameOf, Problem, Tag, Time } from './show.tsx';
import { endsSession, useUnfinished, useWorkspace } from './workspace.ts';

const YOURS = 'Your version';

export function ConflictDialog(props: {
  id: bigint;
  mine: PlantRecord;
  onClose(): void;
  onDone(message: string): void;
}) {
  const { id, mine, onClose, onDone } = props;
  const workspace = useWorkspace();
  const { client } = workspace;
  /** The stored version. Undefined until it is loaded. */
  const [theirs, setTheirs] = useState<Versioned | 'deleted'>();
  const [problem, setProblem] = useState('');

  useUnfinished(() => tellTexts(`Your version of plant ${id} is not saved`, mine));

  useEffect(readTheirs, [id]);

  function readTheirs(): void {
    client.get(id).then(compare, (error) => {
      if (error instanceof PlantStoreError && error.code === 'not_found') setTheirs('deleted');
      else fail(error);
    });
  }

  /** The response to an earlier save may have been lost. In that case the stored version already equals the user's. */
  function compare(found: Versioned): void {
    const { name, tag } = found.record;
    if (name === mine.name && tag === mine.tag) onDone(`Your changes to ${nameOf(mine)} are already saved`);
    else setTheirs(found);
  }

  /** Replaces only the version that is shown. If a newer one exists, the dialog shows that one first. */
  async function keepMine(): Promise<void> {
    if (!theirs) return;
    const { name, tag } = mine;
    const condition = theirs === 'deleted' ? { ifNoneMatch: '*' as const } : { ifMatch: [theirs.seq] };
    try {
      await client.put(id, { name, ...(tag !== undefined && { tag }) }, condition);
      onDone(`Saved your version of ${nameOf(mine)}`);
    } catch (error) {
      if (!(error instanceof PlantStoreError && error.code === 'condition_failed')) return fail(error);
      setProblem('The plant was changed again. Compare the versions again, then choose one.');
      readTheirs();
    }
  }

  function fail(error: unknown): void {
    if (!endsSession(error, workspace)) setProblem((error as Error).message);
  }

  return (
    <Dialog title="Two changes to the same plant" isWide onClose={onClose}>
      <p>
        Plant {String(id)} was {theirs === 'deleted' ? 'deleted' : 'changed'} while you were editing it. Your changes
        are not saved yet.
      </p>
      <div class="versions">
        <Version title="Stored version" record={theirs === 'deleted' ? undefined : theirs?.record} other={mine} />
        <Version title={YOURS} record={mine} other={theirs === 'deleted' ? undefined : theirs?.record} />
      </div>
      <Problem text={problem} />
      <footer>
        <button type="button" onClick={onClose}>
          Discard my changes
        </button>
        <button type="button" class="primary" disabled={!theirs} onClick={() => void keepMine()}>
          Save my version
        </button>
      </footer>
    </Dialog>
  );
}

function Version(props: { title: string; record: PlantRecord | undefined; other: PlantRecord | undefined }) {
  const { title, record, other } = props;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {record ? (
        <dl>
          <dt>Name</dt>
          <dd class={record.name === other?.name ? undefined : 'differs'}>
            <Name of={record.name} />
          </dd>
          <dt>Tag</dt>
          <dd class={record.tag === other?.tag ? undefined : 'differs'}>
            {record.tag === undefined ? <span class="faint">No tag</span> : <Tag of={record.tag} />}
          </dd>
          <dt>Updated</dt>
          <dd>{title === YOURS ? 'Not saved' : <Time at={record.updated} />}</dd>
        </dl>
      ) : (
        <p class="faint">This plant was deleted</p>
      )}
    </section>
  );
}
