// The name, id, tag and times of the open plant.

import type { Change, PlantRecord } from 'plant-store/client';
import { useTokenNames } from '../session/queries.ts';
import { CopyButton } from '../shared/copy.tsx';
import { Fact } from '../shared/fact.tsx';
import { Problem } from '../shared/field.tsx';
import { Time } from '../shared/time.tsx';
import { NameEdit, TagEdit } from './inline-edit.tsx';
import type { PlantEdit } from './use-plant-edit.ts';

interface Props {
  editing: 'name' | 'tag' | undefined;
  onEditing(field: 'name' | 'tag' | undefined): void;
  record: PlantRecord;
  last: Change | undefined;
  edit: PlantEdit;
  canWrite: boolean;
}

export function PlantFacts({ record, last, edit, canWrite, editing, onEditing }: Props) {
  const nameOfToken = useTokenNames();
  const { texts, edited } = edit;
  if (!texts) return null;
  const field = (name: 'name' | 'tag') => ({
    isOpen: editing === name,
    canEdit: canWrite,
    isEdited: edited.includes(name),
    onOpen: () => onEditing(name),
    onClose: () => onEditing(undefined),
    onSave: () => void edit.save(),
  });
  return (
    <>
      <NameEdit {...field('name')} name={texts.name} onChange={(name) => edit.change('name', name)} />
      <dl class="fields">
        <Fact label="Id">
          <span class="with-copy">
            <span class="mono">{String(record.id)}</span>
            <CopyButton text={String(record.id)} label="Copy id" />
          </span>
        </Fact>
        <Fact label="Tag">
          <TagEdit {...field('tag')} tag={texts.tag} onChange={(tag) => edit.change('tag', tag)} />
        </Fact>
        <Fact label="Created">
          <Time at={record.created} isLong />
        </Fact>
        <Fact label="Updated">
          <Time at={record.updated} />
          {last && <span class="sub"> by {nameOfToken(last)}</span>}
        </Fact>
      </dl>
      <Problem text={edit.conflict ? '' : edit.problem} />
    </>
  );
}
