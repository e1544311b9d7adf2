// Restores an earlier version of a plant. This is an ordinary change, so it can be undone.

import type { Change, Versioned } from 'plant-store/client';
import { useState } from 'preact/hooks';
import { useTell } from '../frame/notices.tsx';
import { errorText } from '../session/error-text.ts';
import { endsSession, useWorkspace } from '../session/workspace.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Problem } from '../shared/field.tsx';
import { Icon } from '../shared/icon.tsx';
import { number } from '../shared/numbers.ts';
import { nameOf } from '../shared/plant-text.tsx';
import { exactTime } from '../shared/time.tsx';
import type { Texts } from './merge.ts';
import { Differences } from './plant-history.tsx';

interface Props {
  stored: Versioned;
  version: Change;
  onClose(): void;
  onDone(): void;
}

export function RestoreDialog({ stored, version, onClose, onDone }: Props) {
  const workspace = useWorkspace();
  const { client } = workspace;
  const tell = useTell();
  const [problem, setProblem] = useState('');
  const { record, seq } = stored;
  const isSame = record.name === version.plant.name && record.tag === version.plant.tag;

  async function write(texts: Texts, over: number, message: string, isUndo = false): Promise<void> {
    try {
      const { name, tag } = texts;
      const saved = await client.put(record.id, { name, ...(tag !== undefined && { tag }) }, { ifMatch: [over] });
      tell(message, isUndo ? {} : { undo: () => void write(record, saved.seq, 'Undone', true) });
      onDone();
    } catch (error) {
      if (endsSession(error, workspace)) return;
      if (isUndo) tell(errorText(error), { isProblem: true });
      else setProblem(errorText(error));
    }
  }

  return (
    <Dialog title={`Restore the version of change ${number(version.seq)}?`} onClose={onClose}>
      <div class="dialog-body">
        <p>
          {isSame
            ? 'The plant already is what it was then.'
            : `The plant becomes what it was on ${exactTime(version.time)}. This is a new change: nothing is lost, and you can undo it.`}
        </p>
        {!isSame && (
          <div class="mini-list pad">
            <Differences from={record} to={version.plant} withUnchanged />
          </div>
        )}
        <Problem text={problem} />
      </div>
      <footer class="dialog-foot">
        <div class="grow" />
        <button type="button" class="btn" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="btn primary"
          disabled={isSame}
          onClick={() => void write(version.plant, seq, `Restored an earlier version of ${nameOf(record)}`)}
        >
          <Icon name="undo" />
          Restore
        </button>
      </footer>
    </Dialog>
  );
}
