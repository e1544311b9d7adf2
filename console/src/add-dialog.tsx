// The dialog for a new plant. The user chooses the id, which keeps all of its 64 bits.

import { PlantStoreError } from 'plant-store/client';
import { useRef, useState } from 'preact/hooks';
import { FormDialog } from './form-dialog.tsx';
import { PlantFields, tellTexts } from './plant-fields.tsx';
import { nameOf } from './show.tsx';
import { toId } from './use-plant-with-id.ts';
import { useUnfinished, useWorkspace } from './workspace.ts';

export function AddDialog(props: {
  tags: string[];
  onClose(): void;
  /** Opens the existing plant with this id. */
  onOpen(id: bigint): void;
  onDone(message: string): void;
}) {
  const { tags, onClose, onOpen, onDone } = props;
  const { client } = useWorkspace();
  const [texts, setTexts] = useState({ name: '', tag: '' });
  const idField = useRef<HTMLInputElement>(null);
  const [takenId, setTakenId] = useState<bigint>();

  useUnfinished(() => tellTexts(`Plant ${idField.current?.value} is not saved`, texts));

  async function submit(form: FormData): Promise<void> {
    const id = toId(String(form.get('id')));
    setTakenId(undefined);
    if (id === undefined) {
      throw new Error('The id must be an integer between -9223372036854775808 and 9223372036854775807');
    }
    const plant = { id, name: texts.name, ...(texts.tag !== '' && { tag: texts.tag }) };
    try {
      const { replayed } = await client.create(plant);
      onDone(
        replayed ? `Nothing changed: ${nameOf(plant)} already exists with this name and tag` : `Added ${nameOf(plant)}`,
      );
    } catch (error) {
      if (error instanceof PlantStoreError && error.code === 'id_taken') setTakenId(id);
      throw error;
    }
  }

  const remedy = takenId !== undefined && (
    <button type="button" onClick={() => onOpen(takenId)}>
      Open existing plant
    </button>
  );
  return (
    <FormDialog title="Add plant" action="Add plant" onSubmit={submit} onClose={onClose} remedy={remedy}>
      <label>
        Id
        <input ref={idField} name="id" required inputMode="numeric" autocomplete="off" />
      </label>
      <PlantFields texts={texts} tags={tags} onChange={setTexts} />
    </FormDialog>
  );
}
