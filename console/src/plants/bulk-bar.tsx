// The bar above the status strip while plants are selected: set a tag, export, delete.

import type { PlantRecord } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useSummary } from '../session/queries.ts';
import { useIsOffline, useWorkspace } from '../session/workspace.ts';
import { Confirm } from '../shared/dialog.tsx';
import { Icon } from '../shared/icon.tsx';
import { count, number } from '../shared/numbers.ts';
import { Name, TagDot, tagText } from '../shared/plant-text.tsx';
import { Popover } from '../shared/popover.tsx';
import type { Progress } from './use-plant-actions.ts';
import type { Selection } from './use-selection.ts';

const MAX_LISTED = 5;
const MAX_TAGS = 8;

interface Props {
  selection: Selection;
  rows: number;
  isMore: boolean;
  progress: Progress | undefined;
  isTagging: boolean;
  onTagging(isOpen: boolean): void;
  onTag(tag: string | undefined): void;
  onExport(): void;
  onDelete(): void;
  isDeleting: boolean;
  onDeleting(isOpen: boolean): void;
}

export function BulkBar(props: Props) {
  const { selection, rows, isMore, progress, isTagging, onTagging, onTag, onExport, onDelete, isDeleting, onDeleting } =
    props;
  const { can } = useWorkspace();
  const canWrite = can('plants:write') && !useIsOffline();
  if (progress) return <ProgressBar {...progress} />;
  const atLeast = selection.isAll && isMore ? 'more than ' : '';
  return (
    <div class="bulk" role="toolbar" aria-label={`${atLeast}${count(selection.count, 'plant')} selected`}>
      <b class="bulk-n">
        {atLeast && 'More than '}
        {number(selection.count)} selected
      </b>
      {!selection.isAll && selection.count < rows && (
        <button type="button" class="bulk-all" onClick={selection.selectAll}>
          Select all {isMore ? 'that match' : number(rows)}
        </button>
      )}
      <div class="grow" />
      {canWrite && (
        <Popover
          label={`Set tag of ${count(selection.count, 'plant')}`}
          buttonClass="btn inv"
          gapPx={14} // above the bar
          button={
            <>
              <Icon name="tag" />
              <span class="lbl">Set tag</span>
            </>
          }
          isOpen={isTagging}
          onOpenChange={onTagging}
        >
          <TagChoice
            selected={selection.count}
            onChoose={(tag) => {
              onTagging(false);
              onTag(tag);
            }}
          />
        </Popover>
      )}
      <button type="button" class="btn inv" onClick={onExport}>
        <Icon name="download" />
        <span class="lbl">
          Export<span class="hide-m"> selection</span>
        </span>
      </button>
      {canWrite && (
        <button type="button" class="btn inv danger" onClick={() => onDeleting(true)}>
          <Icon name="trash" />
          <span class="lbl">Delete</span>
        </button>
      )}
      <button
        type="button"
        class="btn icon inv"
        aria-label="Clear selection"
        title="Clear selection (Esc)"
        onClick={selection.clear}
      >
        <Icon name="x" />
      </button>
      {isDeleting && (
        <DeleteDialog
          selection={selection}
          what={`${atLeast}${count(selection.count, 'plant')}`}
          onClose={() => onDeleting(false)}
          onConfirm={() => {
            onDeleting(false);
            onDelete();
          }}
        />
      )}
    </div>
  );
}

function ProgressBar({ what, done, total, cancel }: Progress) {
  return (
    <div class="bulk" role="status">
      <b class="bulk-n">
        {what} {number(done)} of {number(total)}…
      </b>
      <progress class="grow" value={done} max={total} aria-label={what} />
      <button type="button" class="btn inv" onClick={cancel}>
        Stop
      </button>
    </div>
  );
}

function TagChoice({ selected, onChoose }: { selected: number; onChoose(tag: string | undefined): void }) {
  const summary = useSummary();
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const tags = (summary?.tags ?? []).filter(({ tag }) => tag.toLowerCase().includes(wanted)).slice(0, MAX_TAGS);
  const isNew = wanted !== '' && !tags.some(({ tag }) => tag === text.trim());
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (wanted !== '') onChoose(text.trim());
      }}
    >
      <div class="pop-search">
        <Icon name="tag" />
        <input
          class="bare-input"
          placeholder={`Tag for ${count(selected, 'plant')}`}
          aria-label="Tag"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <ul class="opts">
        {isNew && (
          <li>
            <button type="submit" class="opt">
              <Icon name="plus" />
              Create tag “{text.trim()}”
            </button>
          </li>
        )}
        {tags.map(({ tag }) => (
          <li key={tag}>
            <button type="button" class="opt" onClick={() => onChoose(tag)}>
              <TagDot of={tag} />
              <bdi class="opt-t">{tagText(tag)}</bdi>
            </button>
          </li>
        ))}
        <li class="opt-sep">
          <button type="button" class="opt" onClick={() => onChoose(undefined)}>
            <Icon name="x" />
            Remove the tag
          </button>
        </li>
      </ul>
      <p class="pop-foot">Type a new name to create a tag.</p>
    </form>
  );
}

function DeleteDialog(props: { selection: Selection; what: string; onConfirm(): void; onClose(): void }) {
  const { selection, what, onConfirm, onClose } = props;
  const listed: PlantRecord[] = [...selection.records.values()].slice(0, MAX_LISTED);
  return (
    <Confirm
      title={`Delete ${what}?`}
      action={
        <>
          <Icon name="trash" />
          Delete {what}
        </>
      }
      onConfirm={onConfirm}
      onClose={onClose}
    >
      <p>
        {selection.count === 1 ? 'It disappears' : 'They disappear'} for everyone at once. You can undo this now, or
        restore {selection.count === 1 ? 'it' : 'them'} later from Activity.
      </p>
      {!selection.isAll && (
        <ul class="mini-list">
          {listed.map(({ id, name }) => (
            <li key={id}>
              <span class="mono">{String(id)}</span>
              <span class="mini-name">
                <Name of={name} />
              </span>
            </li>
          ))}
          {selection.count > listed.length && <li class="sub">and {number(selection.count - listed.length)} more</li>}
        </ul>
      )}
    </Confirm>
  );
}
