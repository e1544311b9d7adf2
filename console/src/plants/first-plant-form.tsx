// The form for the first plant of an empty store.

import { useMutation } from '@tanstack/preact-query';
import type { NewPlant } from 'plant-store/client';
import { useRef, useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Field, Problem, useFocusOnError } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { nameOf } from '../shared/plant-text.tsx';

const NOT_AN_ID = 'The id must be a whole number, such as 1.';

export function FirstPlantForm({ onAdded }: { onAdded: (() => void) | undefined }) {
  const { client, queries } = useWorkspace();
  const tell = useTell();
  const isOffline = useIsOffline();
  const form = useRef<HTMLFormElement>(null);
  const [attempts, setAttempts] = useState(0);
  const [badId, setBadId] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: (plant: NewPlant) => client.create(plant),
    onSuccess(_created, plant) {
      tell(`Added ${nameOf(plant)}`);
      void queries.invalidateQueries();
      onAdded?.();
    },
    onError: () => setAttempts((number) => number + 1),
  });
  useFocusOnError(form, attempts);
  const problem = error ? errorText(error) : '';
  const isAboutId = /^(The id|Id) /.test(problem);

  function submit(event: SubmitEvent): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget as HTMLFormElement);
    const [id = '', name = '', tag = ''] = ['id', 'name', 'tag'].map((field) => String(data.get(field)));
    const isId = /^-?\d+$/.test(id.trim());
    setBadId(isId ? '' : NOT_AN_ID);
    if (isId) mutate({ id: BigInt(id.trim()), name: name.trim(), ...(tag.trim() !== '' && { tag: tag.trim() }) });
    else setAttempts(attempts + 1);
  }

  return (
    <form class="choice-card" ref={form} aria-labelledby="first-add" onSubmit={submit}>
      <h3 id="first-add">
        <Icon name="seed" />
        Add your first plant
      </h3>
      <p>An id, a name and, if you like, a tag.</p>
      <Field label="Name">
        {(control) => <input {...control} name="name" placeholder="Monstera deliciosa" autocomplete="off" />}
      </Field>
      <div class="two">
        <Field label="Id" error={badId || (isAboutId && problem)}>
          {(control) => (
            <input
              {...control}
              class="input mono"
              name="id"
              defaultValue="1"
              inputMode="numeric"
              autocomplete="off"
              required
            />
          )}
        </Field>
        <Field label="Tag" isOptional>
          {(control) => <input {...control} name="tag" placeholder="tropical" autocomplete="off" />}
        </Field>
      </div>
      <div class="card-end">
        <Problem text={isAboutId ? '' : problem} />
        <button type="submit" class="btn primary block" disabled={isPending || isOffline}>
          Add plant
        </button>
      </div>
    </form>
  );
}
