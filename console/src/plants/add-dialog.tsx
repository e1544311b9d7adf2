// The dialog that adds a plant.

import { type PlantRecord, PlantStoreError } from 'plant-store/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useIsOffline, useUnfinished, useWorkspace } from '../session/workspace.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Field, Problem, useFocusOnError } from '../shared/field.tsx';
import { nameOf } from '../shared/plant-text.tsx';
import { NameField } from './name-field.tsx';
import { toId } from './plant-query.ts';
import { nextFreeId } from './plant-writes.ts';
import { TagField } from './tag-field.tsx';

interface Props {
  name?: string | undefined;
  tag?: string | undefined;
  onClose(): void;
  onOpen(id: bigint): void;
  onAdded(): void;
}

export function AddDialog(props: Props) {
  const { onClose, onOpen } = props;
  const plant = useNewPlant(props);
  const isOffline = useIsOffline();
  const { idProblem } = plant;
  return (
    <Dialog title="Add plant" onClose={onClose}>
      <form
        ref={plant.form}
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (!plant.isBusy && !isOffline) void plant.add();
        }}
      >
        <div class="dialog-body">
          <Field label="Name">
            {({ id }) => <NameField id={id} value={plant.name} onChange={plant.setName} onKeyDown={submitOnEnter} />}
          </Field>
          <Field
            label="Id"
            error={
              idProblem && (
                <>
                  {idProblem.text}{' '}
                  {idProblem.holder && (
                    <>
                      <button type="button" class="as-link" onClick={() => onOpen(idProblem.holder?.id ?? 0n)}>
                        Open it
                      </button>{' '}
                      or choose another id.
                    </>
                  )}
                </>
              )
            }
          >
            {(control) => (
              <div class="with-btn">
                <input
                  {...control}
                  ref={plant.idField}
                  class="input mono"
                  inputMode="numeric"
                  autocomplete="off"
                  value={plant.id}
                  onInput={(event) => plant.setId(event.currentTarget.value)}
                />
                <button type="button" class="btn" onClick={() => plant.suggestId(true)}>
                  Use next free
                </button>
              </div>
            )}
          </Field>
          <Field label="Tag" isOptional>
            {({ id }) => (
              <TagField id={id} value={plant.tag} placeholder="tree, shrub, herb…" onChange={plant.setTag} />
            )}
          </Field>
          <Problem text={plant.problem} />
        </div>
        <footer class="dialog-foot">
          <label class="check">
            <input
              type="checkbox"
              checked={plant.isMore}
              onChange={(event) => plant.setMore(event.currentTarget.checked)}
            />
            Add another
          </label>
          <div class="grow" />
          <button type="button" class="btn" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="btn primary" disabled={plant.isBusy || isOffline}>
            Add plant
          </button>
        </footer>
      </form>
    </Dialog>
  );
}

/** As in a field of one line. Shift and Enter make another line. */
function submitOnEnter(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  (event.currentTarget as HTMLTextAreaElement).form?.requestSubmit();
}

/** The texts of the form, and what happens on submit. */
function useNewPlant({ name: firstName = '', tag: firstTag = '', onClose, onAdded }: Props) {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useTell();
  const form = useRef<HTMLFormElement>(null);
  const idField = useRef<HTMLInputElement>(null);
  const isOpen = useRef(true);
  const [name, setName] = useState(firstName);
  const [id, setId] = useState('');
  const [tag, setTag] = useState(firstTag);
  const [isMore, setMore] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const [attempts, setAttempts] = useState(0);
  const [idProblem, setIdProblem] = useState<{ text: string; holder?: PlantRecord | undefined }>();
  const [problem, setProblem] = useState('');
  useFocusOnError(form, attempts);
  useUnfinished(() =>
    name || id || tag ? `A plant was not added: ${[id, name, tag].filter(Boolean).join(', ')}` : '',
  );

  /** Leaves the field to a user who is in it or has typed an id, unless `isWanted`. */
  function suggestId(isWanted: boolean): void {
    nextFreeId(client).then(
      (free) => {
        const isInUse = !isWanted && document.activeElement === idField.current;
        if (free !== undefined && !isInUse) setId((now) => (isWanted || now === '' ? String(free) : now));
        if (isWanted) setIdProblem(undefined);
      },
      (error) => endsSession(error, workspace) || setProblem(errorText(error)),
    );
  }
  useEffect(() => {
    suggestId(false);
    return () => {
      isOpen.current = false;
    };
  }, []);

  async function add(): Promise<void> {
    const wanted = toId(id);
    setProblem('');
    if (wanted === undefined) {
      setIdProblem({
        text: id.trim() === '' ? 'Write an id.' : 'An id is a whole number of up to 64 bits, such as 10008.',
      });
      setAttempts((n) => n + 1);
      return;
    }
    setBusy(true);
    try {
      const { replayed } = await client.create({ id: wanted, name, ...(tag !== '' && { tag }) });
      const called = nameOf({ id: wanted, name });
      tell(replayed ? `${called} is already in the store` : `Added ${called}`, {
        ...(!replayed && {
          undo: () => void client.delete(wanted).then(onAdded, (e) => tell(errorText(e), { isProblem: true })),
        }),
      });
      onAdded();
      if (!isOpen.current) return; // The user has closed it meanwhile, and may have opened another one.
      if (!isMore) return onClose();
      setName('');
      setId('');
      suggestId(false);
      form.current?.querySelector<HTMLElement>('input, textarea')?.focus();
    } catch (error) {
      await fail(error, wanted);
    } finally {
      setBusy(false);
    }
  }

  async function fail(error: unknown, wanted: bigint): Promise<void> {
    if (endsSession(error, workspace)) return;
    if (!(error instanceof PlantStoreError && error.code === 'id_taken')) return setProblem(errorText(error));
    const holder = await client.get(wanted).then(
      ({ record }) => record,
      () => undefined,
    );
    setIdProblem({ text: `Id ${wanted} belongs to ${holder ? nameOf(holder) : 'another plant'}.`, holder });
    setAttempts((n) => n + 1);
  }

  return {
    ...{ form, idField, name, setName, id, tag, setTag, isMore, setMore, isBusy, idProblem, problem, suggestId, add },
    setId(text: string) {
      setId(text);
      setIdProblem(undefined);
    },
  };
}
