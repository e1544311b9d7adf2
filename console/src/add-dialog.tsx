// A new plant. Its id is a choice of whoever adds it, and exact to the last of its 64 bits.

import { PlantStoreError } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { Dialog } from './dialog.tsx';
import { PlantFields } from './plant-fields.tsx';
import { nameOf } from './show.tsx';
import { toId } from './use-plants.ts';
import { endsSession, useWorkspace } from './workspace.ts';

export function AddDialog(props: {
  tags: string[];
  onClose(): void;
  /** Shows the plant that has the id already. */
  onOpen(id: bigint): void;
  onDone(message: string): void;
}) {
  const { tags, onClose, onOpen, onDone } = props;
  const workspace = useWorkspace();
  const [id, setId] = useState('');
  const [texts, setTexts] = useState({ name: '', tag: '' });
  const [problem, setProblem] = useState('');
  const [takenId, setTakenId] = useState<bigint>();
  const [isBusy, setBusy] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const exactId = toId(id);
    setTakenId(undefined);
    if (exactId === undefined) {
      return setProblem('The id must be an integer between -9223372036854775808 and 9223372036854775807');
    }
    const plant = { id: exactId, name: texts.name, ...(texts.tag !== '' && { tag: texts.tag }) };
    setBusy(true);
    try {
      const { replayed } = await workspace.client.create(plant);
      onDone(replayed ? `${nameOf(plant)} was stored already, just the same` : `Stored ${nameOf(plant)}`);
    } catch (error) {
      if (endsSession(error, workspace)) return;
      if (error instanceof PlantStoreError && error.code === 'id_taken') setTakenId(exactId);
      setProblem((error as Error).message);
      setBusy(false);
    }
  }

  return (
    <Dialog title="Add a plant" onClose={onClose}>
      <form onSubmit={submit}>
        <label>
          Id
          <input
            name="id"
            required
            inputMode="numeric"
            autocomplete="off"
            value={id}
            aria-describedby="add-problem"
            onInput={(event) => setId(event.currentTarget.value)}
          />
        </label>
        <PlantFields texts={texts} tags={tags} onChange={setTexts} />
        <p id="add-problem" class="problem" role="alert">
          {problem}{' '}
          {takenId !== undefined && (
            <button type="button" onClick={() => onOpen(takenId)}>
              Open that plant
            </button>
          )}
        </p>
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={isBusy}>
            Store
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
