// Two people changed one plant: what is stored now beside what was about to be, and which of them shall stay.

import { type PlantRecord, PlantStoreError, type Versioned } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { tellTexts } from './plant-fields.tsx';
import { Name, nameOf, Problem, Tag, Time } from './show.tsx';
import { endsSession, useUnfinished, useWorkspace } from './workspace.ts';

export function ConflictDialog(props: {
  id: bigint;
  mine: PlantRecord;
  onClose(): void;
  onDone(message: string): void;
}) {
  const { id, mine, onClose, onDone } = props;
  const workspace = useWorkspace();
  const { client } = workspace;
  /** Not there while it is read, nothing when it was deleted. */
  const [theirs, setTheirs] = useState<Versioned | 'deleted'>();
  const [problem, setProblem] = useState('');

  useUnfinished(() => tellTexts(`Your version of plant ${id} is not stored`, mine));

  useEffect(readTheirs, [id]);

  function readTheirs(): void {
    client.get(id).then(compare, (error) => {
      if (error instanceof PlantStoreError && error.code === 'not_found') setTheirs('deleted');
      else fail(error);
    });
  }

  /** The answer to what was sent before may have been lost: then what is stored is what was wanted. */
  function compare(found: Versioned): void {
    const { name, tag } = found.record;
    if (name === mine.name && tag === mine.tag) onDone(`${nameOf(mine)} is stored as you wrote it`);
    else setTheirs(found);
  }

  /** Their version is the one that is replaced, and no other: if there is a newer one, it is shown first. */
  async function keepMine(): Promise<void> {
    if (!theirs) return;
    const { name, tag } = mine;
    const condition = theirs === 'deleted' ? { ifNoneMatch: '*' as const } : { ifMatch: [theirs.seq] };
    try {
      await client.put(id, { name, ...(tag !== undefined && { tag }) }, condition);
      onDone(`Stored your version of ${nameOf(mine)}`);
    } catch (error) {
      if (!(error instanceof PlantStoreError && error.code === 'condition_failed')) return fail(error);
      setProblem('It was changed once more: look again');
      readTheirs();
    }
  }

  function fail(error: unknown): void {
    if (!endsSession(error, workspace)) setProblem((error as Error).message);
  }

  return (
    <Dialog title="Somebody else was quicker" isWide onClose={onClose}>
      <p>
        Plant {String(id)} was {theirs === 'deleted' ? 'deleted' : 'changed'} while you worked on it. Nothing of yours
        is stored yet.
      </p>
      <div class="versions">
        <Version title="Stored now" record={theirs === 'deleted' ? undefined : theirs?.record} other={mine} />
        <Version title="Yours" record={mine} other={theirs === 'deleted' ? undefined : theirs?.record} />
      </div>
      <Problem text={problem} />
      <footer>
        <button type="button" onClick={onClose}>
          Keep what is stored
        </button>
        <button type="button" class="primary" disabled={!theirs} onClick={() => void keepMine()}>
          Store mine instead
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
            {record.tag === undefined ? <span class="faint">none</span> : <Tag of={record.tag} />}
          </dd>
          <dt>Changed</dt>
          <dd>{title === 'Yours' ? 'not stored' : <Time at={record.updated} />}</dd>
        </dl>
      ) : (
        <p class="faint">It is deleted.</p>
      )}
    </section>
  );
}
