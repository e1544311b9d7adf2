// The dialog for editing a plant. It sends only the changed fields, and only if the stored version is the opened one.

import { type PlantPatch, type PlantRecord, PlantStoreError, type Versioned } from 'plant-store/client';
import { useEffect, useState } from 'preact/hooks';
import { FormDialog } from './form-dialog.tsx';
import { PlantFields, type Texts, tellTexts } from './plant-fields.tsx';
import { nameOf, Problem, Time } from './show.tsx';
import { endsSession, useUnfinished, useWorkspace } from './workspace.ts';

export function EditDialog(props: {
  id: bigint;
  tags: string[];
  onClose(): void;
  /** Called if the plant was changed or deleted after the dialog opened. */
  onConflict(mine: PlantRecord): void;
  onDone(message: string): void;
}) {
  const { id, tags, onClose, onConflict, onDone } = props;
  const workspace = useWorkspace();
  const { client } = workspace;
  const [opened, setOpened] = useState<Versioned>();
  const [texts, setTexts] = useState<Texts>({ name: '', tag: '' });
  const [problem, setProblem] = useState('');
  const changes = opened ? toPatch(texts, toTexts(opened.record)) : {};

  useUnfinished(() => tellTexts(`Your changes to plant ${id} are not saved`, changes));

  useEffect(() => {
    client.get(id).then(
      (found) => {
        setTexts(toTexts(found.record));
        setOpened(found);
      },
      (error) => endsSession(error, workspace) || setProblem((error as Error).message),
    );
  }, [id]);

  async function submit(): Promise<void> {
    if (!opened) return;
    if (Object.keys(changes).length === 0) return onClose();
    try {
      const { record } = await client.patch(id, changes, { ifMatch: [opened.seq] });
      onDone(`Updated ${nameOf(record)}`);
    } catch (error) {
      const code = error instanceof PlantStoreError ? error.code : undefined;
      if (code !== 'condition_failed' && code !== 'not_found') throw error;
      onConflict(withPatch(opened.record, changes));
    }
  }

  return (
    <FormDialog
      title={`Edit plant ${id}`}
      action="Save"
      isReady={opened !== undefined}
      onSubmit={submit}
      onClose={onClose}
    >
      <Problem text={problem} />
      {opened && (
        <>
          <PlantFields texts={texts} tags={tags} takesFocus onChange={setTexts} />
          <p class="faint">
            Created <Time at={opened.record.created} />, updated <Time at={opened.record.updated} />
          </p>
        </>
      )}
    </FormDialog>
  );
}

/** Converts line ends to `\n`, as a form does. Otherwise an untouched field would differ and be sent. */
function toTexts({ name, tag = '' }: PlantRecord): Texts {
  return { name: name.replace(/\r\n?/g, '\n'), tag: tag.replace(/\r\n?/g, '\n') };
}

function toPatch(now: Texts, before: Texts): PlantPatch {
  return {
    ...(now.name !== before.name && { name: now.name }),
    ...(now.tag !== before.tag && { tag: now.tag === '' ? null : now.tag }),
  };
}

function withPatch(
  { tag: oldTag, ...record }: PlantRecord,
  { name = record.name, tag = oldTag }: PlantPatch,
): PlantRecord {
  return { ...record, name, ...(typeof tag === 'string' && { tag }) };
}
