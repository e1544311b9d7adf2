// The dialog for two edits of the same field: the user chooses what to keep, field by field.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog.tsx';
import { After } from '../shared/diff.tsx';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { Name, nameOf, Tag } from '../shared/plant-text.tsx';
import { Time } from '../shared/time.tsx';
import { changedBy, FIELDS, type Field, type Texts } from './merge.ts';
import type { Conflict } from './use-plant-edit.ts';

interface Props {
  id: bigint;
  conflict: Conflict;
  who: string | undefined;
  isBusy: boolean;
  problem: string;
  onSave(result: Texts): void;
  onKeepEditing(): void;
  onDiscard(): void;
}

export function ConflictDialog(props: Props) {
  const { conflict, onKeepEditing } = props;
  // Escape returns to the edit, which stays as it is.
  return (
    <Dialog
      title={conflict.theirs ? 'Two changes to the same plant' : 'The plant was deleted'}
      icon="merge"
      size={conflict.theirs ? 'wide' : undefined}
      onClose={onKeepEditing}
    >
      {conflict.theirs ? <Merge {...props} /> : <Deleted {...props} />}
    </Dialog>
  );
}

type Choice = 'theirs' | 'mine';

function Merge(props: Props) {
  const { id, conflict, who = 'Someone else', isBusy, problem, onSave, onKeepEditing, onDiscard } = props;
  const { base, mine } = conflict;
  const theirs = conflict.theirs?.record ?? base;
  const [chosen, setChosen] = useState<Partial<Record<Field, Choice>>>({});
  const choices = FIELDS.map((field) => {
    const side = changedBy(field, base, theirs, mine);
    return {
      field,
      side,
      choice: chosen[field] ?? (side === 'mine' ? 'mine' : side === 'both' ? undefined : 'theirs'),
    };
  });
  const open = choices.find(({ choice }) => choice === undefined);
  const takes = (wanted: Field) => choices.some(({ field, choice }) => field === wanted && choice === 'mine');
  const tag = takes('tag') ? mine.tag : theirs.tag;
  const result: Texts = { name: takes('name') ? mine.name : theirs.name, ...(tag !== undefined && { tag }) };
  return (
    <>
      <div class="dialog-body">
        <p>
          <b>{who}</b> saved <b>{nameOf({ id, name: base.name })}</b> <span class="mono">{String(id)}</span>{' '}
          <Time at={theirs.updated} />, while you were editing. Nothing of yours is saved yet. Choose what to keep,
          field by field.
        </p>
        <div class="merge-grid">
          <div class="merge-cols" aria-hidden="true">
            <span />
            <span>Before</span>
            <span>
              Theirs <i>{who}</i>
            </span>
            <span>
              Yours <i>not saved</i>
            </span>
          </div>
          {choices.map(({ field, side, choice }) => (
            <fieldset key={field} class={side === 'both' ? 'merge-row conflict' : 'merge-row'}>
              <legend class="merge-f">
                <b>{LABELS[field]}</b>
                <span class={side === 'both' ? 'badge warn' : 'badge'}>{SIDES[side]}</span>
              </legend>
              <div class="base">
                <span class="choice-who">Before</span>
                <Value field={field} of={base} />
              </div>
              {(['theirs', 'mine'] as const).map((one) => (
                <label key={one} class="choice">
                  <input
                    type="radio"
                    name={`${field}-choice`}
                    checked={choice === one}
                    onChange={() => setChosen({ ...chosen, [field]: one })}
                  />
                  <span class="choice-who">{one === 'mine' ? 'Yours' : 'Theirs'}</span>
                  <span class="choice-v">
                    <Value field={field} of={one === 'mine' ? mine : theirs} from={base} />
                  </span>
                  <span class="choice-n">{noteOf(field, base, one === 'mine' ? mine : theirs, one)}</span>
                </label>
              ))}
            </fieldset>
          ))}
        </div>
        <section class="result" aria-label="Result" aria-live="polite">
          <h3>
            <Icon name={open ? 'info' : 'check'} />
            {open ? `Choose a ${open.field}` : 'Result'}
          </h3>
          {!open && <ResultTexts texts={result} />}
        </section>
        <Problem text={problem} />
      </div>
      <Footer onDiscard={onDiscard} onKeepEditing={onKeepEditing}>
        <button
          type="button"
          class="btn primary"
          disabled={isBusy || open !== undefined}
          onClick={() => onSave(result)}
        >
          Save result
        </button>
      </Footer>
    </>
  );
}

function Deleted({ id, conflict, who = 'Someone else', isBusy, problem, onSave, onKeepEditing, onDiscard }: Props) {
  return (
    <>
      <div class="dialog-body">
        <p>
          <b>{who}</b> deleted <b>{nameOf({ id, name: conflict.base.name })}</b> <span class="mono">{String(id)}</span>{' '}
          while you were editing. Nothing of yours is saved yet.
        </p>
        <section class="result" aria-label="Your version">
          <h3>Your version</h3>
          <ResultTexts texts={conflict.mine} />
        </section>
        <div class="callout">
          <Icon name="info" />
          <span>Storing it again keeps the id {String(id)}. Webhooks receive it as a new plant.</span>
        </div>
        <Problem text={problem} />
      </div>
      <Footer onDiscard={onDiscard} onKeepEditing={onKeepEditing}>
        <button type="button" class="btn primary" disabled={isBusy} onClick={() => onSave(conflict.mine)}>
          Store it again
        </button>
      </Footer>
    </>
  );
}

function Footer(props: { onDiscard(): void; onKeepEditing(): void; children: ComponentChildren }) {
  return (
    <footer class="dialog-foot">
      <button type="button" class="btn quiet" onClick={props.onDiscard}>
        Discard my changes
      </button>
      <div class="grow" />
      <button type="button" class="btn" onClick={props.onKeepEditing}>
        Keep editing
      </button>
      {props.children}
    </footer>
  );
}

function ResultTexts({ texts }: { texts: Texts }) {
  return (
    <dl>
      {FIELDS.map((field) => (
        <div key={field}>
          <dt>{LABELS[field]}</dt>
          <dd>
            <Value field={field} of={texts} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Value({ field, of, from }: { field: Field; of: Texts; from?: Texts }) {
  if (field === 'tag') return <Tag of={of.tag} />;
  return from && from.name !== of.name ? <After from={from.name} to={of.name} /> : <Name of={of.name} />;
}

const LABELS: Record<Field, string> = { name: 'Name', tag: 'Tag' };
const SIDES = {
  same: 'Unchanged',
  mine: 'Only you changed it',
  theirs: 'Only they changed it',
  both: 'Both changed it',
};

function noteOf(field: Field, base: Texts, version: Texts, whose: Choice): string {
  if (version[field] === base[field]) return 'unchanged';
  return whose === 'mine' ? 'your change' : 'their change';
}
